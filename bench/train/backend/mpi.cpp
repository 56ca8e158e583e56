// mpi: collectives over OpenMPI. The launcher connects the ranks: mpirun, or srun with PMIx.
#ifdef HAVE_MPI
#include <fmt/format.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "bench/train/backend/mpi_backend.h"
#include "bench/train/backend/traced_group.h"

namespace bench {
namespace {

class MpiGroup : public TracedGroup {
 public:
  explicit MpiGroup(const GroupOptions& options) : rank_(options.rank) {
    int granted = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &granted), "MPI_Init_thread");
    if (granted < MPI_THREAD_MULTIPLE)
      throw std::runtime_error(
          "this MPI library doesn't support MPI_THREAD_MULTIPLE, which is needed; install an OpenMPI that "
          "does");
    int rank = 0, size = 0;
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    if (rank != rank_.rank || size != rank_.world_size)
      throw std::runtime_error(
          fmt::format("MPI reports rank {} of {}, but the environment rank {} of {}: start the ranks with "
                      "mpirun, or with srun --mpi=pmix",
                      rank, size, rank_.rank, rank_.world_size));
    process_group();  // collective: every rank must create it at the same point
  }
  ~MpiGroup() override {
    end_process_groups();
    MPI_Finalize();
  }

  std::vector<std::string> gather(const std::string& text) override {
    const int size = int(text.size());
    std::vector<int> sizes(size_t(rank_.world_size)), starts(size_t(rank_.world_size));
    check_mpi(MPI_Gather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, MPI_COMM_WORLD), "MPI_Gather");
    int64_t total = 0;
    for (size_t rank = 0; rank < sizes.size(); ++rank) {
      starts[rank] = int(total);
      total += sizes[rank];
    }
    if (total > std::numeric_limits<int>::max())
      throw std::runtime_error(
          fmt::format("the ranks' reports have {} bytes, but MPI_Gatherv is limited to 2 GiB", total));
    std::string all(rank_.rank == 0 ? size_t(total) : 0, '\0');
    check_mpi(MPI_Gatherv(text.data(), size, MPI_CHAR, all.data(), sizes.data(), starts.data(), MPI_CHAR, 0,
                          MPI_COMM_WORLD),
              "MPI_Gatherv");
    std::vector<std::string> texts;
    if (rank_.rank == 0)
      for (size_t rank = 0; rank < sizes.size(); ++rank)
        texts.push_back(all.substr(size_t(starts[rank]), size_t(sizes[rank])));
    return texts;
  }

 protected:
  c10::intrusive_ptr<c10d::Backend> make_backend(const std::string&) override {
    return c10::make_intrusive<MpiBackend>(MPI_COMM_WORLD);
  }
  c10::intrusive_ptr<c10d::Store> store() override { return c10::make_intrusive<c10d::HashStore>(); }

 private:
  RankInfo rank_;
};

const bool registered_backend_mpi = GroupRegistry::instance().add(
    {"backend", "mpi", "OpenMPI, with a communication thread", {.started_by_mpi = true}},
    [](const GroupOptions& options) { return std::make_unique<MpiGroup>(options); });

}  // namespace
}  // namespace bench
#else
#include "bench/registry/registry.h"

namespace bench {
namespace {

const bool registered_backend_mpi =
    register_missing({"backend", "mpi", "OpenMPI", {.started_by_mpi = true}},
                     "this build found no MPI: install libopenmpi-dev and openmpi-bin and build again");

}  // namespace
}  // namespace bench
#endif

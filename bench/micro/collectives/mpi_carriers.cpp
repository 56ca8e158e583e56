// mpi, posted_mpi: the suite's backend over MPI; bare_mpi: MPI's non-blocking calls, waited for in the
// calling thread as MpiBackend does.
#include "bench/micro/collectives/carriers.h"

#ifdef HAVE_MPI
#include "bench/micro/collectives/c10d_carrier.h"
#include "bench/micro/ranks.h"
#include "bench/train/backend/mpi_backend.h"

namespace bench {
namespace {

class BareMpi : public Carrier {
 public:
  explicit BareMpi(std::unique_ptr<Group> group) : group_(std::move(group)) {
    check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &communicator_), "MPI_Comm_dup");
    check_mpi(MPI_Comm_rank(communicator_, &rank_), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(communicator_, &size_), "MPI_Comm_size");
  }
  ~BareMpi() override { MPI_Comm_free(&communicator_); }

  void run(Operation operation, at::Tensor& tensor) override {
    void* const data = tensor.data_ptr();
    const int count = int(tensor.numel());
    MPI_Request request = MPI_REQUEST_NULL;
    const char* call = "";
    const auto checked = [&](const char* name, int code) { check_mpi(code, call = name); };
    switch (operation) {
      case Operation::all_reduce:
        checked("MPI_Iallreduce",
                MPI_Iallreduce(MPI_IN_PLACE, data, count, MPI_FLOAT, MPI_SUM, communicator_, &request));
        break;
      case Operation::broadcast:
        checked("MPI_Ibcast", MPI_Ibcast(data, count, MPI_FLOAT, 0, communicator_, &request));
        break;
      case Operation::reduce:
        checked("MPI_Ireduce", MPI_Ireduce(rank_ == 0 ? MPI_IN_PLACE : data, rank_ == 0 ? data : nullptr,
                                           count, MPI_FLOAT, MPI_SUM, 0, communicator_, &request));
        break;
      case Operation::point_to_point:
        if (rank_ == 0)
          checked("MPI_Isend", MPI_Isend(data, count, MPI_FLOAT, size_ - 1, 0, communicator_, &request));
        if (rank_ == size_ - 1)
          checked("MPI_Irecv", MPI_Irecv(data, count, MPI_FLOAT, 0, 0, communicator_, &request));
    }
    wait_for(request, call);
  }

 private:
  const std::unique_ptr<Group> group_;  // its destructor finalises MPI, after ~BareMpi()
  MPI_Comm communicator_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace

std::vector<NamedCarrier> make_mpi_carriers(const GroupOptions& options) {
  std::vector<NamedCarrier> carriers;
  if (!started_by_mpi()) return carriers;
  auto group = GroupRegistry::instance().find("mpi")(options);
  c10d::ProcessGroup& processes = *group->process_group();
  carriers.push_back({"mpi", std::make_unique<C10dCarrier>(processes), "bare_mpi"});
  carriers.push_back({"posted_mpi", std::make_unique<C10dCarrier>(processes, true), "bare_mpi"});
  carriers.push_back({"bare_mpi", std::make_unique<BareMpi>(std::move(group)), ""});
  return carriers;
}

}  // namespace bench
#else
namespace bench {

std::vector<NamedCarrier> make_mpi_carriers(const GroupOptions&) { return {}; }

}  // namespace bench
#endif

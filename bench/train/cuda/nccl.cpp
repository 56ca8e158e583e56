// nccl: NVIDIA's collectives between GPUs, used by PyTorch's DDP. Each rank has its own GPU: the current CUDA
// device.
#define USE_C10D_NCCL
#include <c10/cuda/CUDAFunctions.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <semaphore.h>
#include <signal.h>

#include <cstdlib>
#include <fstream>
#include <thread>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "bench/train/backend/store_group.h"
#include "bench/train/gpu/nccl_environment.h"
#include "bench/train/gpu/nccl_log.h"
#include "bench/train/link/link.h"

namespace bench {
namespace {

// When the harness asks a hung rank for its stack, writes what LibTorch's flight recorder knows: by default
// its last 2000 collectives. In a thread that waits for the signal, because the training thread may be in
// CUDA.
void dump_collectives_on(int signal_number, const std::filesystem::path& file) {
  static sem_t asked;
  static struct sigaction before;
  ::sigaction(signal_number, nullptr, &before);
  if (before.sa_handler == SIG_DFL || ::sem_init(&asked, 0, 0) != 0) return;  // no train_slice
  struct sigaction action = before;
  action.sa_handler = [](int number) {
    before.sa_handler(number);
    ::sem_post(&asked);
  };
  ::sigaction(signal_number, &action, nullptr);
  std::thread([file] {
    while (::sem_wait(&asked) != 0) continue;  // a signal interrupts it
    std::ofstream(file) << c10d::dump_nccl_trace_json(true, false);
  }).detach();
}

class NcclGroup : public StoreGroup {
 public:
  explicit NcclGroup(const GroupOptions& options)
      : StoreGroup(options),
        link_{options.link, options.interface, options.emulated_link},
        log_(options.logs.empty() ? "" : options.logs / fmt::format("rank-{}.nccl.log", rank_.rank)),
        set_by_row_(set_nccl_environment(nccl_variables(link_, log_))) {
    if (!log_.empty())
      dump_collectives_on(SIGUSR2, options.logs / fmt::format("rank-{}.flight.json", rank_.rank));
    try {
      process_group();  // collective: every rank must create it at the same point
    } catch (const std::exception&) {
      const char* network = std::getenv("NCCL_NET");
      if (!network || !read_nccl_log(log_).without_network) throw;
      throw WrongLink(
          fmt::format("link {}: NCCL can't open the network that NCCL_NET={} names on this node ({}); check "
                      "libibverbs and NCCL_* variables that disable it, or choose another link",
                      link_.link, network, log_.string()));
    }
  }
  // Without this, the destructor of LibTorch's group would abort pending collectives.
  ~NcclGroup() override {
    c10::cuda::device_synchronize();
    for (auto& backend : backends_) backend->shutdown();
    end_process_groups();
  }
  std::optional<harness::RankNccl> nccl() const override {
    harness::RankNccl facts = read_nccl_log(log_).facts;
    facts.environment = nccl_environment(set_by_row_);
    facts.asked_network = asked_network(link_);
    return facts;
  }
  // ncclResetDebugInit, which NCCL's library exports from 2.24 on, makes it read the variables of its log
  // again, and would empty the same file. If the user's variables stay, theirs may log it.
  std::map<std::string, std::string> nccl_choices(const std::function<void()>& collectives) override {
    auto file = log_;
    const auto reset = reinterpret_cast<void (*)()>(::dlsym(RTLD_DEFAULT, "ncclResetDebugInit"));
    if (reset && set_by_row_.contains("NCCL_DEBUG_SUBSYS") && set_by_row_.contains("NCCL_DEBUG_FILE")) {
      file += ".choices";
      ::setenv("NCCL_DEBUG_SUBSYS", "TUNING", 1);
      ::setenv("NCCL_DEBUG_FILE", (std::getenv("NCCL_DEBUG_FILE") + std::string(".choices")).c_str(), 1);
      reset();
    }
    collectives();
    std::ifstream lines(file);
    return read_nccl_choices(lines);
  }

 protected:
  c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name) override {
    auto options = c10d::ProcessGroupNCCL::Options::create();
    options->timeout = kTimeout;
    auto backend =
        c10::make_intrusive<c10d::ProcessGroupNCCL>(store_of(name), rank_.rank, rank_.world_size, options);
    const at::Device device(at::kCUDA, c10::cuda::current_device());
    backend->setBoundDeviceId(device);
    backend->enableCollectivesTiming();         // also records an event before each collective
    backend->eagerConnectSingleDevice(device);  // otherwise the first collective would connect
    backends_.push_back(backend);
    return backend;
  }
  bool carried_by_device() const override { return true; }

 private:
  const NcclLink link_;
  const std::filesystem::path log_;
  const std::set<std::string> set_by_row_;
  std::vector<c10::intrusive_ptr<c10d::ProcessGroupNCCL>> backends_;
};

const bool registered_backend_nccl = GroupRegistry::instance().add(
    {"backend", "nccl", "NCCL between GPUs, as PyTorch's DDP uses it", {.device = "cuda"}},
    [](const GroupOptions& options) { return std::make_unique<NcclGroup>(options); });

}  // namespace
}  // namespace bench

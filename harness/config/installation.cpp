#include "harness/config/installation.h"

#include <cstdlib>

namespace harness {

// Whether a driver's device file exists; works also in containers and under WSL. SKIP_CUDA=1 disables GPUs,
// as in the set-up.
static bool may_use_nvidia_driver() {
  const char* skip = std::getenv("SKIP_CUDA");
  if (skip && std::string(skip) == "1") return false;
  return fs::exists("/dev/nvidiactl") || fs::exists("/dev/dxg");
}

Installation find_installation() {
  const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
  const char* worker = std::getenv("RUN_MATRIX_WORKER");
  const char* results = std::getenv("RUN_MATRIX_RESULTS");
  const fs::path project = PROJECT_DIR, for_gpus = programs / "train_slice_cuda";
  const fs::path train_slice =
      may_use_nvidia_driver() && fs::exists(for_gpus) ? for_gpus : programs / "train_slice";
  return {project, worker ? fs::path(worker) : train_slice, programs / "make_dataset",
          results ? fs::path(results) : project / "results", programs / "listen_address.so"};
}

}  // namespace harness

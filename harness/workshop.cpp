#include "harness/workshop.h"

#include <cstdlib>

namespace harness {

Workshop find_workshop() {
  const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
  const char* worker = std::getenv("RUN_MATRIX_WORKER");
  const char* results = std::getenv("RUN_MATRIX_RESULTS");
  const fs::path project = PROJECT_DIR;
  return {project, worker ? fs::path(worker) : programs / "train_slice", programs / "make_dataset",
          results ? fs::path(results) : project / "results"};
}

}  // namespace harness

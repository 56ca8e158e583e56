// Searches the project's folder upwards from the program; environment variables name other places.
#include "harness/config/installation.h"

#include <fmt/format.h>

#include <cstdlib>

#include "harness/config/config_error.h"

namespace harness {

static bool is_project(const fs::path& folder) {
  return fs::exists(folder / "configs" / "article.yaml") && fs::is_directory(folder / "plots");
}

// RUN_MATRIX_HOME, or the nearest folder above the programs with the project's files: nothing of where it was
// built is compiled in, so that a built folder can be moved or unpacked elsewhere.
static fs::path find_project(const fs::path& programs) {
  if (const char* home = std::getenv("RUN_MATRIX_HOME")) {
    if (!is_project(home))
      throw ConfigError({"RUN_MATRIX_HOME"}, "not the folder of run_matrix",
                        "a folder that holds configs/article.yaml and plots/", fmt::format("'{}'", home),
                        "correct it, or unset it to search above " + programs.string());
    return fs::absolute(home);
  }
  for (fs::path folder = programs;; folder = folder.parent_path()) {
    if (is_project(folder)) return folder;
    if (folder == folder.parent_path()) break;
  }
  throw ConfigError({programs.string()}, "no project around the programs",
                    "configs/article.yaml and plots/ in this folder or above it", "none",
                    "set RUN_MATRIX_HOME to the project's folder");
}

// Whether a driver's device file exists; works also in containers and under WSL. SKIP_CUDA=1 disables GPUs,
// as in the set-up.
static bool may_use_nvidia_driver() {
  const char* skip = std::getenv("SKIP_CUDA");
  if (skip && std::string(skip) == "1") return false;
  return fs::exists("/dev/nvidiactl") || fs::exists("/dev/dxg");
}

Installation find_installation() {
  const fs::path programs = fs::read_symlink("/proc/self/exe").parent_path();
  const auto named = [](const char* variable, const fs::path& otherwise) {
    const char* path = std::getenv(variable);
    return path ? fs::path(path) : otherwise;
  };
  const fs::path project = find_project(programs), for_gpus = programs / "train_slice_cuda";
  const fs::path train_slice =
      may_use_nvidia_driver() && fs::exists(for_gpus) ? for_gpus : programs / "train_slice";
  const fs::path of_project = project / ".venv/bin/python3";
  return {project,
          named("RUN_MATRIX_WORKER", train_slice),
          programs / "make_dataset",
          named("RUN_MATRIX_RESULTS", project / "results"),
          programs / "listen_address.so",
          fs::absolute(named("RUN_MATRIX_DATA", project / "data")),
          programs / "list_opens.so",
          named("PYTHON", fs::exists(of_project) ? of_project : "python3")};
}

}  // namespace harness

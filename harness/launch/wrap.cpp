#include "harness/launch/wrap.h"

#include <fmt/format.h>

namespace harness {

// Runs the wrapping command through a shell, which parses its quotes; in the row's folder, so that its output
// files are there; and without the terminal as stdin, which would stop a debugger in the background.
static Words wrapped(const std::string& condition, const Words& program, const Request& request,
                     const fs::path& directory) {
  Words words = {"sh", "-c", condition + "cd \"$0\" && exec " + request.wrap + " \"$@\" </dev/null",
                 directory};
  append(words, program);
  return words;
}

void wrap_rank(base::Command& command, int64_t rank, const Words& program, const Request& request,
               const fs::path& directory) {
  const bool named = !request.wrap.empty() && rank == request.wrap_rank;
  if (named)
    command.environment["RUN_MATRIX_WRAPPED"] = "1";  // tells the rank to end with the wrapping program
  append(command.arguments, named ? wrapped("", program, request, directory) : program);
}

Words wrapped_where(const std::string& variable, const Words& program, const Request& request,
                    const fs::path& directory) {
  if (request.wrap.empty()) return program;
  return wrapped(fmt::format("[ \"${}\" = {} ] || exec \"$@\"; ", variable, request.wrap_rank), program,
                 request, directory);
}

}  // namespace harness

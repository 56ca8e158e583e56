#include "harness/launch/wrap.h"

#include <fmt/format.h>

#include "harness/data/data.h"

namespace harness {

void check_wrap(const Request& request, const Row& row, const AxisValues& values) {
  if (request.wrap.empty()) return;
  const int64_t ranks = world_size(row, values);
  if (request.wrap_rank >= ranks)
    throw PreparationError(
        fmt::format("row {}: --wrap-rank {}: expected {}", row.id, request.wrap_rank,
                    ranks == 1 ? "0, its only rank" : fmt::format("one of its ranks 0-{}", ranks - 1)));
}

std::string describe_wrap(const Request& request) {
  return fmt::format("rank {} ran under: {}", request.wrap_rank, request.wrap);
}

// A shell reads the command's own quotes. It runs in the row's folder, where its files then lie, and without
// the terminal, which would stop a debugger in the background.
static Words wrapped(const std::string& condition, const Words& program, const Request& request,
                     const fs::path& directory) {
  Words words = {"sh", "-c", condition + "cd \"$0\" && exec " + request.wrap + " \"$@\" </dev/null",
                 directory};
  append(words, program);
  return words;
}

void wrap_rank(Command& command, int64_t rank, const Words& program, const Request& request,
               const fs::path& directory) {
  const bool named = !request.wrap.empty() && rank == request.wrap_rank;
  if (named) command.environment["RUN_MATRIX_WRAPPED"] = "1";  // the rank ends with what it runs under
  append(command.arguments, named ? wrapped("", program, request, directory) : program);
}

Words wrapped_where(const std::string& variable, const Words& program, const Request& request,
                    const fs::path& directory) {
  if (request.wrap.empty()) return program;
  return wrapped(fmt::format("[ \"${}\" = {} ] || exec \"$@\"; ", variable, request.wrap_rank), program,
                 request, directory);
}

}  // namespace harness

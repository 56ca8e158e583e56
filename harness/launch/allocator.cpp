// Sets LD_PRELOAD for jemalloc or tcmalloc, and tests beforehand whether the loader finds the library.
#include "harness/launch/allocator.h"

#include <fmt/format.h>

#include <array>
#include <cstdlib>

namespace harness {
namespace {

struct Allocator {
  const char *name, *library, *package;
};
constexpr std::array<Allocator, 2> kAllocators = {
    {{"jemalloc", "libjemalloc.so.2", "libjemalloc2"},
     {"tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4 (libtcmalloc-minimal4t64)"}}};

const Allocator* find(const std::string& name) {
  for (const Allocator& one : kAllocators)
    if (name == one.name) return &one;
  return nullptr;
}

}  // namespace

void preload(base::Command& command, const std::string& library) {
  const char* ours = std::getenv("LD_PRELOAD");
  std::string& all = command.environment["LD_PRELOAD"];
  if (all.empty() && ours) all = ours;
  all = all.empty() ? library : library + ":" + all;
}

std::string allocator_library(const Row& row) {
  const Allocator* allocator = find(row.malloc);
  return allocator ? allocator->library : "";
}

std::string why_no_allocator(const Row& row) {
  const Allocator* allocator = find(row.malloc);
  if (!allocator) return "";
  base::Command loads_it{{"true"}, {}, {}, {}, {}};
  preload(loads_it, allocator->library);
  loads_it.errors_to_output = true;
  // The loader only warns about a library that it doesn't find.
  if (base::run_to_end(loads_it).output.find(allocator->library) == std::string::npos) return "";
  return fmt::format("library {} was not found: install package {}", allocator->library, allocator->package);
}

}  // namespace harness

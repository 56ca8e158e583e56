// Takes the suite's own options from the command line, and leaves the others to Google Benchmark.
#include "bench/micro/options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "harness/base/number.h"

namespace bench {

const char* const kOptionsHelp =
    "options in addition to Google Benchmark's: --data DIR (contains train/), --store DIR (packed copies), "
    "--ranks N (2 or more: measures only collectives, between N processes over Gloo, over NCCL if each has a "
    "GPU, and over MPI if mpirun is there), --nodes 2 (emulated), --link-rate-mbit R, --interface NAME (that "
    "connects the nodes)";

// CLI::Range takes "nan".
template <class Number>
static CLI::Validator number_from(Number least, Number most) {
  return {[=](const std::string& text) {
            const auto value = base::number_of<Number>(text);
            return value && *value >= least && *value <= most
                       ? std::string()
                       : fmt::format("{}: expected a number from {} to {}", text, least, most);
          },
          ""};
}

MicroOptions take_options(std::vector<std::string>& arguments) {
  MicroOptions options;
  CLI::App app;
  app.set_help_flag();  // --help is Google Benchmark's, too
  app.allow_extras();
  app.add_option("--data", options.data);
  app.add_option("--store", options.store);
  app.add_option("--ranks", options.ranks)->check(number_from(2, 1024));
  app.add_option("--nodes", options.nodes)->check(number_from(1, 2));
  app.add_option("--link-rate-mbit", options.link_rate_mbit)->check(number_from(1.0, 1e6));
  app.add_option("--interface", options.interface);
  app.parse(std::vector(arguments.rbegin(), arguments.rend() - 1));  // backwards, without the program's name
  arguments.resize(1);
  for (const std::string& other : app.remaining()) arguments.push_back(other);
  if (!options.data.empty() && !std::filesystem::is_directory(options.data / "train"))
    throw std::runtime_error(
        fmt::format("--data {}: expected a folder that contains train/", options.data.string()));
  if (options.nodes > 1 && options.ranks == 0)
    throw std::runtime_error("--nodes 2: set the total number of processes of both nodes with --ranks");
  if (options.ranks % options.nodes != 0)
    throw std::runtime_error(
        fmt::format("--ranks {}: expected an even number with --nodes 2", options.ranks));
  if (options.link_rate_mbit > 0 && options.ranks > 0 && options.nodes == 1)
    throw std::runtime_error("--link-rate-mbit: there is no link between ranks on one node; add --nodes 2");
  return options;
}

}  // namespace bench

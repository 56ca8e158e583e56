// Removes the suite's own options from the command line, so that Google Benchmark doesn't refuse them.
#include "bench/micro/options.h"

#include <fmt/format.h>

#include <optional>

#include "harness/base/number.h"

namespace bench {

const char* const kOptionsHelp =
    "options in addition to Google Benchmark's: --data DIR (contains train/), --store DIR (packed copies), "
    "--ranks N (2 or more: measures only collectives, between N processes over Gloo, over NCCL if each has a "
    "GPU, and over MPI if mpirun is there), --nodes 2 (emulated), --link-rate-mbit R, --interface NAME (that "
    "connects the nodes)";

namespace {

// Removes `--name VALUE` or `--name=VALUE` from the arguments and returns the value.
std::optional<std::string> take(const std::string& name, std::vector<std::string>& arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const auto here = arguments.begin() + std::ptrdiff_t(i);
    if (arguments[i].rfind(name + "=", 0) == 0) {
      const std::string value = arguments[i].substr(name.size() + 1);
      arguments.erase(here);
      return value;
    }
    if (arguments[i] == name) {
      if (i + 1 == arguments.size()) throw BadOption(name + ": a value is missing");
      const std::string value = arguments[i + 1];
      arguments.erase(here, here + 2);
      return value;
    }
  }
  return std::nullopt;
}

template <class Number>
Number take_number(const std::string& name, std::vector<std::string>& arguments, Number otherwise,
                   Number least, Number most) {
  const auto text = take(name, arguments);
  if (!text) return otherwise;
  const auto value = base::number_of<Number>(*text);
  if (!value || *value < least || *value > most)
    throw BadOption(fmt::format("{} {}: expected a number from {} to {}", name, *text, least, most));
  return *value;
}

}  // namespace

MicroOptions take_options(std::vector<std::string>& arguments) {
  MicroOptions options;
  options.data = take("--data", arguments).value_or("");
  if (!options.data.empty() && !std::filesystem::is_directory(options.data / "train"))
    throw BadOption(fmt::format("--data {}: expected a folder that contains train/", options.data.string()));
  options.store = take("--store", arguments).value_or("");
  options.ranks = take_number("--ranks", arguments, 0, 2, 1024);
  options.nodes = take_number("--nodes", arguments, 1, 1, 2);
  options.link_rate_mbit = take_number("--link-rate-mbit", arguments, 0.0, 1.0, 1e6);
  options.interface = take("--interface", arguments).value_or("");
  if (options.nodes > 1 && options.ranks == 0)
    throw BadOption("--nodes 2: set the total number of processes of both nodes with --ranks");
  if (options.ranks % options.nodes != 0)
    throw BadOption(fmt::format("--ranks {}: expected an even number with --nodes 2", options.ranks));
  if (options.link_rate_mbit > 0 && options.ranks > 0 && options.nodes == 1)
    throw BadOption("--link-rate-mbit: there is no link between ranks on one node; add --nodes 2");
  return options;
}

}  // namespace bench

// feed: can this machine feed so many accelerators?
#include "harness/feed/feed.h"

#include <iostream>

#include "harness/commands/command_line.h"

namespace harness {

void add_feed(CommandLine& line) {
  const auto feed = std::make_shared<FeedRequest>();
  CLI::App* command = line.app.add_subcommand("feed",
                                              "can this machine's loader keep so many accelerators busy? "
                                              "Exit codes: 0 yes, 4 no, 3 nothing measured, "
                                              "1 a run failed");
  command->add_option("--device", feed->device, "device file in configs/devices, e.g. v100-article")
      ->required();
  command->add_option("--devices", feed->devices, "number of devices in question")
      ->required()
      ->check(CLI::Range(1, 1024));
  command->add_option("--model", feed->model, "network that the devices train")->capture_default_str();
  command->add_option("--storage", feed->storage, "where images come from; `list --values` names all")
      ->capture_default_str();
  const std::map<std::string, double> units = {{"s", 1}, {"m", 60}, {"h", 3600}};
  command->add_option("--within", feed->within_s, "no run starts later, e.g. 90s, 10m or 1h (default 10m)")
      ->transform(
          CLI::AsNumberWithUnit(units, CLI::AsNumberWithUnit::Options(CLI::AsNumberWithUnit::CASE_SENSITIVE |
                                                                      CLI::AsNumberWithUnit::UNIT_REQUIRED)))
      ->check([](const std::string& text) {
        double seconds = 0;
        const bool good = CLI::detail::lexical_cast(text, seconds) && seconds > 0 && seconds <= 1e9;
        return good ? std::string() : "expected a time above 0, found " + text;
      })
      ->type_name("TIME");
  command->fallthrough();
  command->callback([&line, feed] {
    for (const char* option :
         {"config", "--only", "--scale", "--repeat", "--trace", "--wrap", "--hosts", "--hostfile",
          "--launcher", "--interface", "--dry-run", "--accuracy", "--oversubscribe", "--list"})
      if (line.app.count(option))
        throw CLI::ValidationError(option,
                                   "has no meaning for feed, which chooses its own runs; leave it out");
    line.action = [&line, feed](const Installation& installation) {
      return run_feed(installation, line.request, *feed, std::cout);
    };
  });
}

}  // namespace harness

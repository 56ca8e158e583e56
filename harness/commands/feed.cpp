// feed: can this machine feed so many accelerators?
#include "harness/feed/feed.h"

#include <iostream>

#include "harness/commands/command_line.h"

namespace harness {

void add_feed(CommandLine& line) {
  const auto feed = std::make_shared<FeedRequest>();
  CLI::App* command = line.app.add_subcommand("feed",
                                              "can this machine's loader keep so many accelerators busy? "
                                              "Exit codes: 0 yes, 4 no, 3 nothing measured, 1 a run failed");
  command->add_option("--device", feed->device, "device file in configs/devices, e.g. v100-article")
      ->required();
  command->add_option("--devices", feed->devices, "number of devices in question")
      ->required()
      ->check(CLI::Range(1, 1024));
  command->add_option("--model", feed->model, "network that the devices train")->capture_default_str();
  command->add_option("--storage", feed->storage, "where images come from; `list --values` names all")
      ->capture_default_str();
  add_time_option(*command, "--within", feed->within_s,
                  "no run starts later, e.g. 90s, 10m or 1h (default 10m)");
  command->fallthrough();
  command->callback([&line, feed] {
    refuse_options(line, "feed",
                   {"config", "--only", "--scale", "--repeat", "--trace", "--wrap", "--hosts", "--hostfile",
                    "--launcher", "--interface", "--dry-run", "--accuracy", "--oversubscribe", "--list",
                    "--device", "--devices"});  // the last two: before `feed`; those after it are its own
    line.action = [&line, feed](const Installation& installation) {
      return run_feed(installation, line.request, *feed, std::cout);
    };
  });
}

}  // namespace harness

// feed: can this machine feed so many accelerators?
#include "harness/feed/feed.h"

#include <iostream>

#include "harness/commands/command_line.h"
#include "harness/own_job/job_commands.h"

namespace harness {

void add_feed(CommandLine& line) {
  const auto feed = std::make_shared<FeedRequest>();
  const auto job = std::make_shared<JobRequest>();
  const auto own = std::make_shared<JobDevice>();
  CLI::App* command =
      line.app.add_subcommand("feed",
                              "can this machine's loader keep so many accelerators busy? "
                              "Exit codes: 0 yes, 4 no, 3 nothing measured, 1 a run failed. With "
                              "`-- COMMAND`: how many devices does the loader of your own "
                              "PyTorch training feed (docs/own_job.md)");
  command->add_option("--device", feed->device, "device file in configs/devices, e.g. v100-article");
  command->add_option("--devices", feed->devices, "number of devices in question")
      ->check(CLI::Range(1, 1024));
  command->add_option("--model", feed->model, "network that the devices train")->capture_default_str();
  command->add_option("--storage", feed->storage, "where images come from; `list --values` names all")
      ->capture_default_str();
  add_time_option(*command, "--within", feed->within_s,
                  "no run starts later, e.g. 90s, 10m or 1h (default 10m)");
  add_job_options(*command, *job);
  const char* group = "Options for a command of your own (after `--`)";
  command->add_option("--step-ms", own->step_ms, "time of your device for one batch of the loader")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command->add_option("--images-per-s", own->items_per_s, "items that your device takes in a second")
      ->check(CLI::PositiveNumber)
      ->group(group);
  command->fallthrough();
  command->callback([&line, feed, job, own] {
    if (line.job.empty() && feed->device.empty())
      throw CLI::RequiredError("without a command after `--`, --device");
    if (line.job.empty() && feed->devices == 0) throw CLI::RequiredError("--devices");
    if (!line.job.empty() && (own->step_ms > 0) == (own->items_per_s > 0))
      throw CLI::ValidationError("feed -- COMMAND", "needs --step-ms or --images-per-s, one of them");
    refuse_options(line, "feed",
                   {"config", "--only", "--scale", "--repeat", "--trace", "--wrap", "--hosts", "--hostfile",
                    "--launcher", "--interface", "--dry-run", "--accuracy", "--oversubscribe", "--list",
                    "--device", "--devices"});  // the last two: before `feed`; those after it are its own
    line.action = [&line, feed, job, own](const Installation& installation) {
      job->command = line.job;
      job->within_s = feed->within_s;
      job->keep_disturbed = line.request.keep_disturbed;
      if (!line.job.empty()) return feed_job(installation, line.request, *job, *own, std::cout);
      return run_feed(installation, line.request, *feed, std::cout);
    };
  });
}

}  // namespace harness

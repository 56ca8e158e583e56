// feed: can this machine feed so many accelerators?
#include "harness/feed/feed.h"

#include <fmt/format.h>

#include <iostream>

#include "harness/commands/command_line.h"
#include "harness/config/device_file.h"
#include "harness/own_job/job_commands.h"

namespace harness {

// Times of a device file for the job's network: that of --model, or the file's only one.
static PrecisionCosts costs_in(const Installation& installation, const std::string& device,
                               const std::string& model, const std::string& precision) {
  const fs::path file = device_file(installation.project, device);
  const auto models = read_device_file(file).models;
  const auto one_of = [&](const auto& values, const std::string& asked, const char* what) {
    if (asked.empty() && values.size() == 1) return values.begin()->second;
    if (const auto found = values.find(asked); found != values.end()) return found->second;
    std::string names;
    for (const auto& [name, value] : values) names += (names.empty() ? "" : ", ") + name;
    throw PreparationError(
        fmt::format("{}: {}; name its {} with --{}: {}", file.string(),
                    asked.empty() ? fmt::format("it has several {}s", what) : "it has no " + in_quotes(asked),
                    what, what, names));
  };
  return one_of(one_of(models, model, "model"), precision, "precision");
}

static void add_feed(CommandLine& line) {
  const auto feed = std::make_shared<FeedRequest>();
  const auto own = std::make_shared<JobDevice>();
  const auto precision = std::make_shared<std::string>();
  CLI::App* command =
      line.app.add_subcommand("feed",
                              "can this machine's loader keep so many accelerators busy? "
                              "Exit codes: 0 yes, 4 no, 3 nothing measured, 1 a run failed. With "
                              "`-- COMMAND`: how many devices does the loader of your own "
                              "PyTorch training feed (docs/own_job.md)");
  command->add_option("--device", feed->device, "device file in configs/devices, e.g. v100-article");
  command->add_option("--devices", feed->devices, "number of devices in question")
      ->check(CLI::Range(1, 1024));
  const auto* model =
      command->add_option("--model", feed->model, "network that the devices train")->capture_default_str();
  command->add_option("--storage", feed->storage, "where images come from; `list --values` names all")
      ->capture_default_str();
  add_time_option(*command, "--within", feed->within_s,
                  "no run starts later, e.g. 90s, 10m or 1h (default 10m)");
  add_job_options(line, *command);
  command->add_option("--step-ms", own->step_ms, "time of your device for one batch of the loader")
      ->check(kAboveZero);
  command->add_option("--images-per-s", own->items_per_s, "items that your device takes in a second")
      ->check(kAboveZero);
  command->add_option(
      "--precision", *precision,
      "precision of --device for --model (default: the only one; `import` and `calibrate` make "
      "such a file of your own job)");
  command->fallthrough();
  command->callback([&line, feed, own, precision, model] {
    const bool of_job = !line.job.command.empty();
    if (!of_job && feed->device.empty()) throw CLI::RequiredError("without a command after `--`, --device");
    if (!of_job && feed->devices == 0) throw CLI::RequiredError("--devices");
    if (of_job && (own->step_ms > 0) + (own->items_per_s > 0) + !feed->device.empty() != 1)
      throw CLI::ValidationError("feed -- COMMAND",
                                 "needs --step-ms, --images-per-s or --device, one of them");
    if (!line.job.step_line.empty())
      throw CLI::ValidationError("--step-line",
                                 "has no meaning for feed, which takes a torch DataLoader over");
    refuse_matrix(line, "feed", {"--only", "--repeat"});  // --device and --devices after `feed` are its own
    if (of_job) refuse_rows(line, "feed -- COMMAND");
    line.action = [=, &line](const Installation& installation) {
      if (!of_job) return run_feed(installation, line.request, *feed, std::cout);
      line.job.within_s = feed->within_s;
      if (!feed->device.empty())
        own->costs = costs_in(installation, feed->device, model->count() > 0 ? feed->model : "", *precision);
      return feed_job(installation, line.request, line.job, *own, std::cout);
    };
  });
}
static const Command registered_feed(130, add_feed);

}  // namespace harness

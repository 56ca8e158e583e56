// Words the verdict, the number of devices fed and what limits the loader.
#include <fmt/format.h>

#include "harness/base/plain_text.h"
#include "harness/experiment/intervention.h"
#include "harness/report/explain_text.h"

namespace harness {
namespace {

std::string tenths_of_percent(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string devices_text(double devices) {
  return three_digits(devices) + (devices == 1 ? " device" : " devices");
}

const FeedPoint* point_at(const FeedAnswer& answer, double devices) {
  for (const FeedPoint& point : answer.points)
    if (point.devices == devices) return &point;
  return nullptr;
}

std::string verdict(const FeedAnswer& answer) {
  const FeedPoint* asked = point_at(answer, double(answer.asked));
  if (!asked) return "not measured";
  return fmt::format("{}: their utilisation is {}; fed means {:.0f} % or more",
                     answer.asked_is_fed.value_or(false) ? "YES" : "NO",
                     tenths_of_percent(asked->utilisation), 100 * kFedFrom);
}

std::string fed_here(const FeedAnswer& answer) {
  const std::string by_rate =
      answer.fed_by_rate > 0 ? devices_text(answer.fed_by_rate) + " by the loader's rate. " : "";
  if (!answer.whole)
    return by_rate +
           "Not confirmed in whole devices: the time (--within) was used up, or runs gave no figure";
  const auto measured = [&](int64_t devices) {
    return tenths_of_percent(point_at(answer, double(devices))->utilisation);
  };
  if (*answer.whole == 0) return fmt::format("{}Less than one device: one has {}", by_rate, measured(1));
  return fmt::format("{}Confirmed in whole devices: {} fed ({}), {} not ({})", by_rate, *answer.whole,
                     measured(*answer.whole), *answer.whole + 1, measured(*answer.whole + 1));
}

std::string loader_alone(const FeedAnswer& answer) {
  if (answer.loader_images_per_second <= 0) return "not measured";
  return fmt::format("{} images/s, {} MB/s from storage", three_digits(answer.loader_images_per_second),
                     three_digits(answer.loader_images_per_second * answer.bytes_per_image * 1e-6));
}

std::string needs(const FeedAnswer& answer) {
  std::string text = fmt::format("{} images/s", three_digits(answer.needed_images_per_second));
  if (answer.needed_cores) {
    const double cores = double(answer.cores);
    text += fmt::format(
        ", {} cores like the {} used here{}", three_digits(*answer.needed_cores), answer.cores,
        *answer.needed_cores > cores
            ? fmt::format(" (extrapolated beyond {}: as if each core decoded as much)", answer.cores)
            : "");
  }
  if (answer.bytes_per_image <= 0) return text;
  const double mb = answer.bytes_per_image * 1e-6, needed = answer.needed_images_per_second * mb,
               read_here = answer.loader_images_per_second * mb;
  text += fmt::format(", {} MB/s from storage ({:.3g} kB per image", three_digits(needed), mb * 1e3);
  if (read_here > 0 && needed > 1.05 * read_here)
    text += fmt::format("; extrapolated: {} MB/s were read here", three_digits(read_here));
  text += ")";
  if (answer.over_network) text += fmt::format(", {} Gbit/s of network", three_digits(needed * 8e-3));
  return text;
}

// Where no figure has an interval the cause is told as `explain` tells it: as likely.
std::string binds(const FeedAnswer& answer) {
  if (answer.binding.empty()) return "not answered";
  if (answer.host_binds) return fmt::format("{}: {}", answer.binding, answer.because);
  return fmt::format("likely {}, but that is not sure: {}; each change ran once", answer.binding,
                     answer.because);
}

}  // namespace

Facts feed_facts(const FeedAnswer& answer) {
  const Row& row = answer.row;
  Facts facts = {
      {fmt::format("Can this machine feed {} x {} (emulated)?", answer.asked, answer.device),
       verdict(answer)},
      {"Measured with",
       fmt::format("{}, {}, storage {}, cache {}, {}, {}; one device "
                   "computes {} images/s",
                   row.model, row.precision, row.storage, row.cache, base::counted(row.cpus, "core"),
                   base::counted(row.loader_threads, "loader thread"),
                   three_digits(answer.device_images_per_second))},
      {"The loader alone", loader_alone(answer)},
      {"Fed here", fed_here(answer)},
      {"What binds", binds(answer)},
      {fmt::format("{} of them at {:.0f} % utilisation take", answer.asked, 100 * kFedFrom), needs(answer)}};
  if (!answer.missing.empty()) facts.emplace_back("Not answered", answer.missing);
  // The loader's own threads account for one per core.
  if (answer.load_average > 2.5 * double(answer.row.cpus))
    facts.emplace_back(
        "Disturbed",
        fmt::format("the load average reached {:.1f} on {} cores: other programs ran, and an idle "
                    "machine feeds more",
                    answer.load_average, answer.row.cpus));
  return facts;
}

Facts feed_facts(const JobFeed& feed) {
  const Location& rate = feed.rate;
  const double taken = feed.device_items_per_s;
  return {{"Its loader delivers",
           fmt::format("{:.4g} items/s ({:.4g} to {:.4g}) with nothing else to do; {} runs", rate.value,
                       rate.low, rate.high, rate.runs)},
          {"One device takes", fmt::format("{:.4g} items/s, a batch of {} in {:.4g} ms", taken, feed.batch,
                                           1e3 * feed.batch / taken)},
          {"It feeds",
           fmt::format("{:.3g} such devices ({:.3g} to {:.3g}){}", feed.devices(), rate.low / taken,
                       rate.high / taken,
                       feed.on_processor ? "; here the step's own work on the processor is left out" : "")}};
}

Grid feed_grid(const FeedAnswer& answer) {
  Grid grid;
  grid.title = "Utilisation by number of devices (emulated)";
  grid.columns = {{"devices"}, {"they take images/s"}, {"delivered images/s"}, {"utilisation"}, {"runs"},
                  {"", true}};
  for (const FeedPoint& point : answer.points)
    grid.rows.push_back({three_digits(point.devices),
                         three_digits(point.devices * answer.device_images_per_second),
                         three_digits(point.images_per_second), tenths_of_percent(point.utilisation),
                         std::to_string(point.runs), point.utilisation >= kFedFrom ? "fed" : "not fed"});
  grid.notes = {
      "utilisation: time in which the devices compute / total time, the AU of MLPerf Storage; medians over "
      "the runs. To a loader, N devices are one that is N times as fast, so one emulated device with "
      "divided durations represents them: communication between devices is not in these runs."};
  return grid;
}

Grid feed_changes_grid(const FeedAnswer& answer) {
  Grid grid;
  grid.title = "What binds: one change at a time (emulated)";
  grid.columns = {
      {"change", true}, {"images/s"}, {"times as many"}, {"as with", true}, {"remark", true, false, 60}};
  const Explanation& loader = answer.loader;
  if (loader.blocks > 0)
    grid.rows.push_back({title_of_change("unchanged"), three_digits(loader.images_per_second), "-", "-", ""});
  for (const ExplainedChange& change : loader.changes) {
    const bool measured = change.images_per_second > 0,
               fed = change.change->name == std::string("made_up") && !answer.host_binds;
    grid.rows.push_back({change.change->title, measured ? three_digits(change.images_per_second) : "-",
                         change.part ? fmt::format("{:.2f}", change.part->value) : "-",
                         change.part ? change.over->title : "-",
                         !measured ? "not measured: " + change.why_not
                         : fed     ? "at least: the devices take no more"
                                   : ""});
  }
  return grid;
}

std::string feed_text(const FeedAnswer& answer) {
  std::string text = facts_text(feed_facts(answer));
  for (const Grid& grid : {feed_grid(answer), feed_changes_grid(answer)})
    if (!grid.empty()) text += "\n" + console_text(grid);
  return text;
}

}  // namespace harness

// Names the part of loading whose change raises the loader's rate by 15 % or more.
#include "harness/report/summary/feed_binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "harness/experiment/intervention.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

// Asks whether host and device keep up without a loader; all others are runs of the loader alone.
constexpr std::string_view kOnDevice = "made_up";

FeedChange change_of(const char* purpose, const RecordList& records) {
  FeedChange change{purpose, 0, 0, "", "", false};
  std::vector<double> rates;
  for (const Record* record : records) {
    if (!record->feed || record->feed->purpose != purpose) continue;
    const auto rate = delivered_images_per_second(*record);
    if (!is_ok(*record) || !rate) {
      change.why_not = record->reason;
      continue;
    }
    rates.push_back(*rate);
    change.device_limits = device_utilisation(*record).value_or(0) >= kFedFrom;
  }
  change.images_per_second = median(rates);
  if (!rates.empty()) change.why_not.clear();
  return change;
}

const FeedChange* measured(const FeedAnswer& answer, const std::string& purpose) {
  for (const FeedChange& change : answer.changes)
    if (change.purpose == purpose && change.images_per_second > 0) return &change;
  return nullptr;
}

double gain_of(const FeedAnswer& answer, const char* purpose) {
  const FeedChange* change = measured(answer, purpose);
  return change ? change->gain : 0;
}

void set_gain(FeedAnswer& answer, FeedChange& change, const std::string& against) {
  // Without its own partner a rung is compared with the unchanged run.
  const FeedChange* partner = measured(answer, against);
  if (!partner) partner = measured(answer, "unchanged");
  if (!partner || change.images_per_second <= 0) return;
  change.against = partner->purpose;
  change.gain = change.images_per_second / partner->images_per_second;
}

void decide(FeedAnswer& answer) {
  const auto tried = [&](const Intervention& change) {
    return std::any_of(answer.changes.begin(), answer.changes.end(),
                       [&](const FeedChange& one) { return one.purpose == change.name; });
  };
  for (const Intervention& change : interventions())  // one that wasn't tried may be what binds
    if (change.of_loader && !tried(change)) return;
  const double fewer = gain_of(answer, "fewer_threads"), more = gain_of(answer, "more_threads"),
               memory = gain_of(answer, "in_memory"), pixels = gain_of(answer, "no_decoding"),
               made_up = gain_of(answer, "made_up");
  const auto set = [&](const char* what, const std::string& why) {
    answer.binding = what;
    answer.because = why;
  };
  if (const FeedChange* nothing = measured(answer, "made_up"); nothing && !nothing->device_limits)
    set("host", fmt::format("even made-up batches, without any loading, keep the device below {:.0f} %: "
                            "launches, or the copy to the device",
                            100 * kFedFrom));
  else if (memory >= kGainOfOneRun)
    set("storage", fmt::format("reading from memory delivers {:.2f} times as many images", memory));
  else if (more >= kGainOfOneRun)
    set("loader threads", fmt::format("twice as many threads deliver {:.2f} times as many images", more));
  else if (pixels >= kGainOfOneRun)
    set("decoding",
        fmt::format("without decoding the loader delivers {:.2f} times as many images{}", pixels,
                    fewer > 0 ? fmt::format(", and with half the threads {:.2f} times", fewer) : ""));
  else if (fewer > 0 && fewer <= 1 / kGainOfOneRun)
    set("cores", fmt::format("half the loader threads deliver {:.2f} times as many images", fewer));
  else if (made_up >= kGainOfOneRun)
    set("loader", fmt::format("made-up batches are {:.2f} times as fast, and no single part of loading "
                              "explains it",
                              made_up));
}

}  // namespace

double rate_of(const FeedAnswer& answer, const std::string& purpose) {
  const FeedChange* change = measured(answer, purpose);
  return change ? change->images_per_second : 0;
}

void find_binding(FeedAnswer& answer, const RecordList& records) {
  for (const Intervention& intervention : interventions()) {
    if (!intervention.of_loader) continue;
    FeedChange change = change_of(intervention.name, records);
    if (change.images_per_second <= 0 && change.why_not.empty()) continue;
    set_gain(answer, change, intervention.name == kOnDevice ? "unchanged" : intervention.against);
    answer.changes.push_back(change);
  }
  decide(answer);
}

}  // namespace harness

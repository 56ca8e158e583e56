// Decides when more than 1 % of a data set is unreadable.
#include "bench/loading/loader/bad_images.h"

#include <fmt/format.h>

#include <cmath>

namespace bench {
namespace {

constexpr double kMostBadShare = 0.01;
constexpr int64_t kLeastSeen = 100;  // below this a single bad image would already be 1 %
constexpr double kSigmas = 3;

}  // namespace

void BadImages::add(int64_t record, const std::string& name, const std::string& why) {
  const std::lock_guard lock(mutex_);
  ++bad_;
  different_.insert(record);
  const std::string warning = fmt::format("{}: {}", name, why);
  if (warnings_.size() < kMostWarnings && different_.size() > warnings_.size()) warnings_.push_back(warning);
  const int64_t seen = good_ + bad_;
  if (seen < kLeastSeen) return;
  const double expected = kMostBadShare * static_cast<double>(seen);
  const bool by_count =
      static_cast<double>(different_.size()) > kMostBadShare * static_cast<double>(records_);
  const bool by_sample = static_cast<double>(bad_) > expected + kSigmas * std::sqrt(expected);
  if (by_count || by_sample)
    throw BadDataset(
        fmt::format("more than 1 % of the data set is unreadable: {} of {} images so far ({} distinct ones "
                    "of {}), the last was {}; {}",
                    bad_, seen, different_.size(), records_, warning, next_step_));
}

void BadImages::stop_after_many_in_a_row(const std::string& name, const std::string& why) const {
  throw BadDataset(fmt::format("{} unreadable images in a row, the last was {}: {}; {}", kMostInARow, name,
                               why, next_step_));
}

void BadImages::add_to(LoaderStats& stats) const {
  const std::lock_guard lock(mutex_);
  stats.images = good_;
  stats.bad_images = bad_;
  stats.warnings = warnings_;
}

}  // namespace bench

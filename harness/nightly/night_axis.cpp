#include "harness/nightly/night_axis.h"

#include <fmt/format.h>

namespace harness {

using nlohmann::json;

NightAxis::NightAxis(std::vector<const Night*> nights) : nights_(std::move(nights)) {
  const size_t thinned = nights_.size() > kNightsInFull + kOlderPlaces ? nights_.size() - kNightsInFull : 0;
  if (thinned) share_ = (thinned + kOlderPlaces - 1) / kOlderPlaces;
  for (size_t i = 0; i < nights_.size(); ++i) {
    if (i >= thinned || i % share_ == 0) places_.emplace_back();
    places_.back().push_back(nights_[i]);
    place_of_[nights_[i]->id] = places_.size() - 1;
    if (i < thinned) older_ = places_.size();
  }
}

std::string NightAxis::day(size_t place) const { return places_[place].front()->started_at.substr(0, 10); }

json NightAxis::values() const {
  json values = json::array();
  for (size_t i = 0; i < places_.size(); ++i) {
    const Night &first = *places_[i].front(), &last = *places_[i].back();
    const bool one = places_[i].size() == 1;
    const auto range = [&](const std::string& from, const std::string& to) {
      return from == to ? from : from + " to " + to;
    };
    values.push_back({{"at", i},
                      {"night", one ? first.id : fmt::format("median of {} nights", places_[i].size())},
                      {"time", range(first.started_at, last.started_at)},
                      {"tag", range(first.tag, last.tag)},
                      {"revision", range(first.revision.substr(0, 12), last.revision.substr(0, 12))}});
  }
  return values;
}

}  // namespace harness

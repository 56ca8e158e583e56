#include "harness/nightly/slots.h"

#include <fmt/format.h>

namespace harness {

using nlohmann::json;

Slots::Slots(std::vector<const Night*> nights) : nights_(std::move(nights)) {
  const size_t thinned = nights_.size() > kNightsInFull + kOlderSlots ? nights_.size() - kNightsInFull : 0;
  if (thinned) share_ = (thinned + kOlderSlots - 1) / kOlderSlots;
  for (size_t i = 0; i < nights_.size(); ++i) {
    if (i >= thinned || i % share_ == 0) slots_.emplace_back();
    slots_.back().push_back(nights_[i]);
    place_[nights_[i]->id] = slots_.size() - 1;
    if (i < thinned) older_ = slots_.size();
  }
}

std::string Slots::day(size_t slot) const { return slots_[slot].front()->started_at.substr(0, 10); }

json Slots::values() const {
  json values = json::array();
  for (size_t i = 0; i < slots_.size(); ++i) {
    const Night &first = *slots_[i].front(), &last = *slots_[i].back();
    const bool one = slots_[i].size() == 1;
    const auto range = [&](const std::string& from, const std::string& to) {
      return from == to ? from : from + " to " + to;
    };
    values.push_back({{"at", i},
                      {"night", one ? first.id : fmt::format("median of {} nights", slots_[i].size())},
                      {"time", range(first.started_at, last.started_at)},
                      {"tag", range(first.tag, last.tag)},
                      {"revision", range(first.revision.substr(0, 12), last.revision.substr(0, 12))}});
  }
  return values;
}

}  // namespace harness

// The axis of a machine's charts: the positions of its nights. Older nights share positions.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/night.h"

namespace harness {

inline constexpr size_t kNightsInFull = 400;  // newest nights, each with its own position
inline constexpr size_t kOlderPlaces = 200;   // positions for all older nights

class NightAxis {
 public:
  explicit NightAxis(std::vector<const Night*> nights);  // of one machine, oldest first

  size_t size() const { return places_.size(); }
  size_t older() const { return older_; }      // number of positions with several nights
  size_t per_place() const { return share_; }  // nights per such position
  bool knows(const std::string& night) const { return place_of_.contains(night); }
  size_t of(const std::string& night) const { return place_of_.at(night); }
  std::string day(size_t place) const;  // date of its first night
  nlohmann::json values() const;        // at, night, time, tag, revision: shown under the mouse
  const std::vector<const Night*>& nights() const { return nights_; }

 private:
  std::vector<const Night*> nights_;
  std::vector<std::vector<const Night*>> places_;
  std::map<std::string, size_t> place_of_;
  size_t older_ = 0, share_ = 1;
};

}  // namespace harness

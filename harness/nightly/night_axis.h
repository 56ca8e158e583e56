// The axis of a machine's charts: the places that its nights take, many older nights to one place.
#pragma once
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/nightly/night.h"

namespace harness {

inline constexpr size_t kNightsInFull = 400;  // newest nights with a place of their own
inline constexpr size_t kOlderPlaces = 200;   // places that all before them share

class NightAxis {
 public:
  explicit NightAxis(std::vector<const Night*> nights);  // of one machine, oldest first

  size_t size() const { return places_.size(); }
  size_t older() const { return older_; }      // how many of them hold several nights
  size_t per_place() const { return share_; }  // nights in each of those
  bool knows(const std::string& night) const { return place_of_.contains(night); }
  size_t of(const std::string& night) const { return place_of_.at(night); }
  std::string day(size_t place) const;  // of its first night
  nlohmann::json values() const;        // at, night, time, tag, revision: what the mouse is told
  const std::vector<const Night*>& nights() const { return nights_; }

 private:
  std::vector<const Night*> nights_;
  std::vector<std::vector<const Night*>> places_;
  std::map<std::string, size_t> place_of_;
  size_t older_ = 0, share_ = 1;
};

}  // namespace harness

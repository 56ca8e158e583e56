// unit: hosts of a made-up night: which are slow, in which part, against whom; groups; what chance names.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "harness/fleet/fleet_night.h"

namespace harness::slow_hosts_test {

constexpr const char* kPhases[] = {"load", "h2d", "forward", "backward", "sync"};

// Hosts in racks of ten with three rows each. A host's level of a figure differs from the others' by 1 %, a
// night's figure by 1 % from it.
class Fleet {
 public:
  explicit Fleet(size_t hosts, unsigned seed = 1) : random_(seed) {
    for (size_t host = 0; host < hosts; ++host)
      night_.hosts.push_back(
          {"h" + std::to_string(host), "Zen, 8 cores", {{"rack", "r" + std::to_string(host / 10)}}});
    for (const std::string row : {"0", "7", "12"}) {
      for (const char* phase : kPhases) night_.series.push_back({row, "phase", phase, "Zen, 8 cores", 0});
      night_.series.push_back({row, "metric", "total_s", "Zen, 8 cores", 0});
      night_.series.push_back({row, "metric", "images_per_second", "Zen, 8 cores", 0});
    }
    night_.series.push_back({"gemm_ms", "canary", "", "Zen, 8 cores", 0});
    night_.night = "2026-01-31";
    night_.nights = 30;
  }
  // A phase of a host tonight; `always`: on earlier nights, too.
  void slow_down(size_t host, const std::string& phase, double factor, bool always = false) {
    slow_.push_back({host, phase, factor, always});
  }
  FleetNight night(double season = 1, size_t past_nights = 30) {
    FleetNight night = night_;
    for (size_t series = 0; series < night.series.size(); ++series) {
      std::vector<double> values;
      for (size_t host = 0; host < night.hosts.size(); ++host) {
        const double level = std::exp(noise()), tonight = season * factor(host, night.series[series], false);
        night.figures.push_back({host, series, 100 * level * tonight * std::exp(noise()),
                                 level * factor(host, night.series[series], true) * std::exp(noise() / 5),
                                 past_nights});
        values.push_back(night.figures.back().value);
      }
      std::nth_element(values.begin(), values.begin() + long(values.size() / 2), values.end());
      night.series[series].median = values[values.size() / 2];
    }
    return night;
  }

 private:
  struct Slow {
    size_t host;
    std::string phase;
    double factor;
    bool always;
  };
  double noise() { return std::normal_distribution<double>(0, 0.01)(random_); }
  // The seconds of a row grow by a fifth of what a phase does.
  double factor(size_t host, const FleetSeries& series, bool past) const {
    double factor = 1;
    for (const Slow& slow : slow_)
      if (slow.host == host && (slow.always || !past)) {
        if (series.name == slow.phase) factor *= slow.factor;
        if (series.name == "total_s") factor *= 1 + (slow.factor - 1) / 5;
      }
    return factor;
  }
  FleetNight night_;
  std::vector<Slow> slow_;
  std::mt19937 random_;
};

// One night in a thousand by the false discovery rate, which is of a normal scatter.
TEST(SlowHosts, ChanceNamesNextToNone) {
  size_t hosts = 0, groups = 0;
  for (unsigned seed = 1; seed <= 100; ++seed) {
    const FleetVerdict verdict = judge_fleet(Fleet(200, seed).night());
    EXPECT_EQ(verdict.judged, 200u);
    hosts += verdict.hosts.size();
    groups += verdict.groups.size();
  }
  EXPECT_LE(hosts, 1u);
  EXPECT_EQ(groups, 0u);
}

TEST(SlowHosts, AreNamedWithTheirPartAndItsSize) {
  Fleet fleet(200);
  fleet.slow_down(17, "backward", 1.10);
  fleet.slow_down(17, "forward", 1.10);
  fleet.slow_down(60, "load", 1.20);
  const FleetNight night = fleet.night();
  const FleetVerdict verdict = judge_fleet(night);
  ASSERT_EQ(verdict.hosts.size(), 2u);
  EXPECT_EQ(night.hosts[verdict.hosts[0].host].name, "h60") << "what costs most comes first";
  ASSERT_EQ(verdict.hosts[0].parts.size(), 1u) << "its seconds grew only because of loading";
  EXPECT_EQ(verdict.hosts[0].parts[0].part, "loading");
  EXPECT_NEAR(verdict.hosts[0].parts[0].ratio, 1.2, 0.03);
  EXPECT_NEAR(verdict.hosts[0].cost, 0.04, 0.02);
  EXPECT_EQ(verdict.hosts[1].parts[0].part, "computing");
  EXPECT_LE(verdict.hosts[1].parts[0].low, 1.1);
  EXPECT_GE(verdict.hosts[1].parts[0].high, 1.1);
}

TEST(SlowHosts, AHostThatWasAlwaysSlowIsSoOnlyBesideOthers) {
  Fleet fleet(100);
  fleet.slow_down(5, "h2d", 1.15, true);
  const FleetVerdict verdict = judge_fleet(fleet.night());
  ASSERT_EQ(verdict.hosts.size(), 1u);
  EXPECT_EQ(verdict.hosts[0].parts[0].part, "copying");
  EXPECT_FALSE(verdict.hosts[0].parts[0].of_past);
}

// Its level differs from others' by more than it lost.
TEST(SlowHosts, ASmallChangeShowsAgainstItsOwnPast) {
  Fleet fleet(100, 3);
  for (const char* phase : {"forward", "backward"}) fleet.slow_down(5, phase, 1.05);
  const FleetVerdict verdict = judge_fleet(fleet.night());
  ASSERT_EQ(verdict.hosts.size(), 1u);
  EXPECT_EQ(verdict.hosts[0].parts[0].part, "computing");
}

TEST(SlowHosts, ASeasonIsNoHostsFault) { EXPECT_TRUE(judge_fleet(Fleet(100).night(1.3)).hosts.empty()); }

TEST(SlowHosts, ARackIsNamedInsteadOfItsHosts) {
  Fleet fleet(200);
  for (size_t host = 40; host < 50; ++host) fleet.slow_down(host, "sync", 1.10);
  fleet.slow_down(45, "sync", 1.50);
  fleet.slow_down(120, "sync", 1.50);  // one slow host doesn't condemn its rack
  const FleetNight night = fleet.night();
  const FleetVerdict verdict = judge_fleet(night);
  ASSERT_EQ(verdict.groups.size(), 1u);
  EXPECT_EQ(verdict.groups[0].value, "r4");
  EXPECT_EQ(verdict.groups[0].part.part, "link");
  EXPECT_NEAR(verdict.groups[0].part.ratio, 1.1, 0.03);
  ASSERT_EQ(verdict.hosts.size(), 2u) << "one of the rack is slower than the rack";
  EXPECT_EQ(fleet_json(night, verdict)["groups"][0]["hosts"], 10);
}

TEST(SlowHosts, NeedOthersOfTheSameHardware) {
  FleetNight night = Fleet(20).night();
  for (size_t host = 0; host < 3; ++host) night.hosts[host].hardware = "another";
  std::erase_if(night.figures, [](const FleetFigure& figure) { return figure.host < 3; });
  const FleetVerdict verdict = judge_fleet(night);
  EXPECT_EQ(verdict.judged, 17u);
  ASSERT_EQ(verdict.remarks.size(), 1u);
  EXPECT_EQ(verdict.remarks[0], "3 hosts of another: not judged, 8 of the same hardware are needed");
}

TEST(SlowHosts, WithoutAPastAreJudgedBesideOthers) {
  Fleet fleet(50);
  fleet.slow_down(5, "load", 1.3);
  const FleetVerdict verdict = judge_fleet(fleet.night(1, 2));
  ASSERT_EQ(verdict.hosts.size(), 1u);
  EXPECT_FALSE(verdict.hosts[0].parts[0].of_past);
}

}  // namespace harness::slow_hosts_test

// Whether a measured figure lies between limits: the one decision that claims, questions, the comparison with
// the article and comparisons of runs put into their own words.
#pragma once
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "harness/stats/effect.h"
#include "harness/stats/inference.h"

namespace harness {

// A ratio of positive figures, base / row (above 1: the row is faster or has less of it), or a share.
struct Ratio {
  double value = 0, low = 0, high = 0;
  size_t runs = 0;              // the smallest number of runs of its rows; 0: there is no figure
  Mean mean = {};               // behind p_against()
  bool of_logs = false;         // `mean` is of logarithms: of ratios, not of shares
  bool undisturbed = false;     // of undisturbed_s() (stats/disturbance.h)
  bool of_some_rounds = false;  // of the runs of both in common rounds alone
  bool pooled = false;         // its interval is by the scatter of all rows of the family (stats/inference.h)
  bool own_scatter = false;    // or, where they scatter unequally, by that of its own few runs
  std::string why_range = {};  // why `low` and `high` are no interval but the range over the runs
  size_t fewest_runs = kFewestRuns;  // for an interval; kFirstLook where results decided how many ran
  double level = kLevel;             // of the interval; below kLevel for one of several looks

  bool known() const { return runs > 0; }
  bool decides() const { return pooled || own_scatter || runs >= fewest_runs; }
  // Two-sided p that the true figure is `limit`, which must be positive for ratios; below kLevel where a test
  // at `level` rejects.
  double p_against(double limit) const;
};
Ratio ratio_of(const Effect& effect);

// The interval of `mean`, or of its exponential.
void set_interval(Ratio& ratio, const Mean& mean);
// The interval of a figure of fewer than kFewestRuns runs: by the scatter of all rows in `pools`, or by that
// of its own runs from `fewest_own` on. Without either it stays a range, and `why_range` says why.
void borrow_scatter(Ratio& ratio, const Pools& pools, const std::vector<WeightedRuns>& terms,
                    size_t fewest_own = kFewestOwnRuns);

inline constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// What is asserted of a figure: it lies between `low` and `high`. With a margin its estimate must also be
// beyond a limit by this share: an effect that is too small to matter decides nothing.
struct Limits {
  double low = 0, high = kNoLimit, margin = 0;
};

enum class Verdict { holds, does_not_hold, undecided, cannot_be_told };

struct Judgement {
  Verdict verdict = Verdict::cannot_be_told;
  // That the true figure is at the limit which decides. Nullopt of too few runs, and of a figure that chance
  // has no part in, which correct() leaves as it is.
  std::optional<double> p = {};
  size_t runs_missing = 0;  // of each row, until there is an interval at all
  size_t runs_needed = 0;   // of each row, if the figure stays the same; 0: nobody knows
  std::string reason = {};  // why it isn't decided; empty: it is

  bool decided() const { return verdict == Verdict::holds || verdict == Verdict::does_not_hold; }
};

// Holds if the whole interval lies between the limits, does not hold if all of it lies outside, both with p
// under kLevel, too, and can't be told without a figure. Otherwise, and with too few runs for an interval, it
// is undecided.
Judgement judge(const Ratio& figure, const Limits& limits);

// Corrects the p of judgements that are told together, and withdraws the verdicts whose p isn't below kLevel
// any more: by Holm's method, or by Bonferroni's for a number of tests. The latter is for rows that get no
// more runs once they are decided: Holm's p depends on the rows that go on, so that their verdicts could be
// lost again.
void correct(const std::vector<Judgement*>& family, std::optional<size_t> bonferroni_of = {});

}  // namespace harness

// From runs to an estimate with its standard error, also for rows that ran once: their scatter is borrowed
// from the repeats of all rows of the same family.
//
// Assumed: the logarithms of a figure (of a share: the share itself) are normal, and scatter equally within a
// family (family_of()). Then the variance within the rows, pooled, makes Student's t exact with the
// degrees of freedom of all repeats, for rows that ran once, too (one-way analysis of variance). The
// assumption is tested: where the repeats scatter unequally by Bartlett's test there is no pool, and each row
// has its own variance, with the degrees of freedom of the row that ran least, which errs on the safe side
// however unequal the variances are (Scheffe 1970). A row whose own runs scatter more than the pool keeps its
// own variance. Different families: Welch and Satterthwaite.
// A drift between rounds isn't removed: it is part of the scatter of each row, and widens the interval.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/stats/effect.h"

namespace harness {

// Decided from settings and ceilings, never from the row's own seconds, so that choosing a family can't make
// a difference look sure. text_of() has their names in this order.
enum class Family {
  modelled,   // an emulated device or a set rate of reading; on a GPU the device
  ranks,      // the same device, and ranks that wait for one another
  loader,     // the loader is about as slow as the device, or its ceiling wasn't measured
  processor,  // computes and decodes on this machine's cores
  storage,    // reads from a real disk or object store
  link,       // sends real bytes between nodes
  started,    // modelled, and timed from the first batch on: the start of the loader is part of it
};
const char* text_of(Family family);

// `runs`: all of one row, at least one.
Family family_of(const RecordList& runs);

// One figure of one row, one value per run.
struct Runs {
  Family family = Family::modelled;
  std::vector<double> values;
};
struct WeightedRuns {
  const Runs* runs;
  double weight;
};

class Pools {
 public:
  explicit Pools(const std::vector<Runs>& rows);

  // The sum of weight x mean. `degrees` is 0 where a family has no pool.
  Mean sum_of(const std::vector<WeightedRuns>& terms) const;
  // Why that is so; empty where there is one.
  std::string why_none(const std::vector<WeightedRuns>& terms) const;

 private:
  struct Pool {
    double variance = 0, degrees = 0, equal_p = 1;
    size_t rows = 0;
    bool usable() const { return rows > 1 && degrees >= kFewestDegrees && equal_p >= kUnequal; }
  };
  std::map<Family, Pool> pools_;
};

// The sum of weight x mean with each row's own variance, by Welch and Satterthwaite; `degrees` is 0 where a
// row ran once.
Mean sum_of_own(const std::vector<WeightedRuns>& terms);

// The same with the degrees of freedom of the row that ran least, and no row's scatter below kLeastScatter;
// `degrees` is 0 with fewer than `fewest` of a row.
Mean sum_of_few(const std::vector<WeightedRuns>& terms, size_t fewest = kFewestOwnRuns);

// p that groups with these variances have one, by Bartlett's statistic with Box's F (Box 1949), which holds
// for one degree of freedom each. 1 with fewer than two groups.
double bartlett_p(const std::vector<double>& variances, const std::vector<double>& degrees);

double mean(const std::vector<double>& values);      // of at least one
double variance(const std::vector<double>& values);  // of a sample; 0 of fewer than two values

}  // namespace harness

// Every level, margin and minimum by which results are judged, each with its reason. Rooms take them from
// here, so that no two of them call the same figure by different names.
#pragma once
#include <cstddef>
#include <cstdint>

namespace harness {
inline namespace policy {

// ---- any verdict on figures of whole runs (experiment/verdict.h, stats/inference.h) ----

// The probability of any false verdict among those that are corrected together, and of every 95 % interval.
inline constexpr double kLevel = 0.05;
// With fewer runs per side there is no verdict and no interval, only a range. An exact interval reaches 95 %
// from 6 runs on; 5 runs reach 93.75 %.
inline constexpr size_t kFewestRuns = 5;
inline constexpr size_t kFewestOwnRuns = 3;      // tell a row's own scatter; two say nearly nothing
inline constexpr double kMostRunsAdvised = 100;  // nobody waits for more
// No standard deviation counts as smaller, 0.1 %: virtual clocks repeat to the nanosecond, but a slice of a
// few seconds can't be timed better than the scheduler's ticks of a few ms.
inline constexpr double kLeastScatter = 0.001;
inline constexpr double kFewestDegrees = 3;  // with fewer a pool depends on the tails, which nobody knows
inline constexpr double kUnequal =
    0.10;  // Bartlett's p; above 0.05, because it must notice what would do harm
// From this ratio of the ceilings on, the device waits for no batch even where the loader stumbles. In three
// runs each on two Zen 4 cores the seconds of such rows differed by up to 0.03 %, of the others by 0.4 %.
inline constexpr double kLoaderIsFar = 1.25;

// ---- disturbed runs (stats/disturbance.h) ----

// Under this share the kernel's counters and the system's own services would be corrected for.
inline constexpr double kDisturbedShare = 0.02;
inline constexpr double kSpoiledShare = 0.10;  // from here on a row that can't be corrected decides no claim
// Of the clock in the timed batches. Seconds aren't corrected for it: where it changed isn't known.
inline constexpr double kChangedClock = 0.05;

// ---- checks of a record ----

// In a few steps on the same batch, of which a network learns every image; an optimizer that doesn't step,
// gradients of zero or a wrong sign leave the loss where it was or raise it.
inline constexpr double kFallOnOneBatch = 0.75;
inline constexpr double kFallInSlice = 0.95;    // over ever new crops, more than means of ten batches scatter
inline constexpr double kLoaderHoldsUp = 0.03;  // of the step; from here on a row waits for its loader
// Counted / expected bytes of a link; packet headers and small messages add bytes.
inline constexpr double kLeastLinkShare = 0.95, kMostLinkShare = 1.15;
inline constexpr double kReaches = 0.95;  // a loader this near to an emulated limit is held up by it

// ---- claims and the article ----

inline constexpr double kArticleMargin = 0.05;  // about twice MLPerf's run-to-run spread of imaging results
inline constexpr double kVisibleShare = 0.10;   // of waiting; two runs of a row differ by about as much
inline constexpr double kLeastShare = 0.0005;   // of waiting; no clock tells less
inline constexpr double kNoLossOfAccuracy = 0.005;  // between two seeds of ResNet18 on ImageNet, top-1
// The standard deviation of photographs' sizes is about their mean, so the mean of 10,000 images is within
// 2 % of that of all. The allowance is larger because a folder need not be a random sample.
inline constexpr double kFewestImages = 10000, kSampleAllowance = 0.05;
inline constexpr double kEqualsModel = 0.03;  // up to here a row waits for nothing but the emulated device

// ---- what binds a row: a change and its gain (report/summary/explanation.h) ----

inline constexpr double kLeastGain = 1.03;  // a smaller gain is not called a cause
inline constexpr double kLeastBindingShare =
    0.10;                                      // of a job's step; what takes less may gain, but doesn't bind
inline constexpr size_t kFewestOwnBlocks = 2;  // of two runs each only a huge gain is sure
// From a gain as clear as this on, changes that gain nearly nothing in their first run don't run again.
inline constexpr double kClearGain = 1.2;
inline constexpr double kFedFrom = 0.90;    // MLPerf Storage: an accelerator is fed from 90 % utilisation on
inline constexpr double kWorthMore = 0.01;  // a purchase that gains less beside a larger gain isn't worth it

// ---- where a row waits, by its phases (report/bottleneck.h) ----

inline constexpr double kTouches = 0.9;  // of a ceiling, which is of a few batches
inline constexpr double kUneven = 0.25;  // of the step that others wait for one rank: it is the cause
inline constexpr double kMostlyReading =
    0.5;  // of the loader threads' time: it waits for storage, not for threads
inline constexpr double kReadsTooMuch = 4;  // bytes read for each used: the kernel's read-ahead, a setting
inline constexpr double kMostlyLink =
    0.5;  // all-reduces alone / exposed time: it waits for the link, not for a rank
inline constexpr double kMostlyWire = 0.5;    // of waiting on the critical path; below, ranks wait for a rank
inline constexpr double kMostBatches = 0.75;  // in which one rank was critical: it is a slow rank
inline constexpr double kEvenShare = 0.01;    // of a batch; ranks that wait no less than this are alike
// Of the device's computing. A host that was ahead would wait for the device, and launch in less time.
inline constexpr double kLaunchBound = 0.9;

// ---- comparisons of two runs ----

inline constexpr double kSmallestMargin = 0.02;  // smaller effects are irrelevant even if significant
inline constexpr double kSmallestPhase = 0.005;  // of the step; smaller changes don't make up such an effect
inline constexpr int64_t kBlocks = 9;       // of `ab`: power 0.9 for an effect of 2 % if runs scatter by 1 %
inline constexpr size_t kFirstLook = 7;     // pairs; with fewer the exact test can't reach the look's level
inline constexpr double kLookGrowth = 1.4;  // of the pairs; more looks would each need a smaller level

// ---- ranks against those of good runs (compare/validate.h) ----

inline constexpr double kFloor =
    0.05;  // slower by less is not odd, even if the references scatter by nothing
inline constexpr double kFalseRanks = kLevel;   // the share of odd ranks that chance names; asked once a run
inline constexpr double kSmallPart = 0.01;      // of the step; what happens to smaller parts changes nothing
inline constexpr size_t kFewestReferences = 3;  // ranks; fewer have no spread

// ---- nights ----

inline constexpr int64_t kRunsOfANight = 3;    // of each row; the median then tolerates one outlier
inline constexpr double kMetricMargin = 0.05;  // A/A experiments tell only the noise of seconds
inline constexpr double kCanaryMargin = 0.03;  // from night to night; between seconds and other metrics
inline constexpr double kCanaryDrift = 0.10;   // within a night: the machine changed
// In a history: with more, a night is looked at beside those of its host alone.
inline constexpr size_t kMostHostsOfATrend = 8;
inline constexpr size_t kFewestNights = 20;      // shorter series raise no alarm: their scatter isn't known
inline constexpr size_t kNightsToLast = 3;       // before and after a change, so that no outlier is one
inline constexpr size_t kNightsOfNews = 30;      // older changes are drawn, but raise no alarm
inline constexpr size_t kSameChange = 3;         // nights that two analyses may place a change apart
inline constexpr size_t kAboutTheSameNight = 2;  // between changes of a row and of a canary with one cause
inline constexpr size_t kNightsLookedAt = 500;   // newest of a series: a search takes no longer as it grows
inline constexpr double kLeastClock = 0.90;  // of a GPU's maximum, while a row ran: an operator wants to know
inline constexpr double kThrottledShare = 0.05;  // of the readings of a row; a moment's peak of power is none
inline constexpr size_t kTypicalOver = 20;       // nights whose median one odd night hardly moves

// ---- hosts of one night (fleet/fleet_night.h) ----

inline constexpr size_t kFewestHosts = 8;       // of the same hardware; fewer have no scatter to speak of
inline constexpr size_t kFewestPastNights = 5;  // of a host, for its own level
// The share of named hosts that chance names: with ten slow hosts a night one false one in a hundred nights.
inline constexpr double kFalseHosts = 0.001;
inline constexpr double kLeastSlowness = 0.01;  // nobody looks after a host for less

}  // namespace policy
}  // namespace harness

// Every level, margin and minimum by which results are judged, each with its reason. Rooms take them from
// here, so that no two of them call the same figure by different names.
#pragma once
#include <cstddef>
#include <cstdint>

namespace harness::inline policy {

// ---- any verdict on figures of whole runs (experiment/verdict.h, stats/inference.h) ----

// The probability of any false verdict among those that are corrected together, and of every 95 % interval.
inline constexpr double kLevel = 0.05;
// With fewer runs per side there is no verdict and no interval, only a range. An exact interval reaches 95 %
// from 6 runs on; 5 runs reach 93.75 %.
inline constexpr size_t kFewestRuns = 5;
// As many runs of each row tell its own scatter. Of two, Student's t says nearly nothing.
inline constexpr size_t kFewestOwnRuns = 3;
// No standard deviation counts as smaller, 0.1 %: virtual clocks repeat to the nanosecond, but a slice of a
// few seconds can't be timed better than the scheduler's ticks of a few ms.
inline constexpr double kLeastScatter = 0.001;
// With fewer degrees of freedom a pool depends on the shape of the tails, which nobody knows.
inline constexpr double kFewestDegrees = 3;
// Bartlett's test rejects from here on. Above the usual 0.05, because it must notice what would do harm.
inline constexpr double kUnequal = 0.10;
// From this ratio of the ceilings on, the device waits for no batch even where the loader stumbles. In three
// runs each on two Zen 4 cores the seconds of such rows differed by up to 0.03 %, of the others by 0.4 %.
inline constexpr double kLoaderIsFar = 1.25;

// ---- disturbed runs (stats/disturbance.h) ----

// From this share on a run is disturbed. Below it the resolution of the kernel's counters and the system's
// own services would be corrected for.
inline constexpr double kDisturbedShare = 0.02;
// From this share on a row that can't be corrected decides no claim.
inline constexpr double kSpoiledShare = 0.10;
// A row is disturbed, too, when the clock of its cores changed so much between the first and the last timed
// batch. Seconds aren't corrected for it: where in the window it changed isn't known.
inline constexpr double kChangedClock = 0.05;

// ---- claims and the article ----

// Relative tolerance for the article's ratio outside the interval, and for rows that count as equal: about
// twice MLPerf's run-to-run spread of imaging results.
inline constexpr double kArticleMargin = 0.05;
// A smaller share of waiting in the step is ignored: two runs of a row differ by about as much.
inline constexpr double kVisibleShare = 0.10;
// A share of waiting under this counts as this: no clock tells less.
inline constexpr double kLeastShare = 0.0005;
// Half a point of top-1: the usual difference between two seeds of ResNet18 on ImageNet.
inline constexpr double kNoLossOfAccuracy = 0.005;
// The standard deviation of photographs' sizes is about their mean, so the mean of 10,000 images is within
// 2 % of that of all. The allowance is larger because a folder need not be a random sample.
inline constexpr double kFewestImages = 10000, kSampleAllowance = 0.05;
// Up to here an emulated time is that of the closed-form model: nothing but the device binds the row.
inline constexpr double kEqualsModel = 0.03;

// ---- what binds a row (report/bottleneck.h) ----

// A row within this share of a ceiling touches it: ceilings are of a few batches.
inline constexpr double kTouches = 0.9;
// From this share of the step on that the other ranks wait for it, one slow rank is the cause.
inline constexpr double kUneven = 0.25;
// From this share of reading in the loader threads' time on, the storage is the cause, not their number.
inline constexpr double kMostlyReading = 0.5;
// From so many bytes read for each byte used on, the kernel's read-ahead is the cause: a setting, and free to
// change.
inline constexpr double kReadsTooMuch = 4;
// From this ratio of the all-reduces alone to the exposed time on, the link is the cause, not skewed ranks.
inline constexpr double kMostlyLink = 0.5;

// ---- comparisons of two runs ----

// The smallest margin on any machine. Smaller effects are irrelevant even if they are significant.
inline constexpr double kSmallestMargin = 0.02;
// Of the step: changes of smaller phases aren't listed, because they don't make up an effect of the margin.
inline constexpr double kSmallestPhase = 0.005;
// Blocks of `ab`: power 0.9 for an effect of 2 % if runs scatter by 1 %.
inline constexpr int64_t kBlocks = 9;
// Pairs before `ab --until` first looks: with fewer the exact test can't reach the first look's level.
inline constexpr size_t kFirstLook = 7;
// Each look comes after so many times as many pairs: more looks would each need a smaller level.
inline constexpr double kLookGrowth = 1.4;

// ---- ranks against those of good runs (compare/validate.h) ----

// A rank that is slower by less is not odd, even where the references' ranks scatter by nothing.
inline constexpr double kFloor = 0.05;
// Nor is one within so many spreads of the references: of a normal distribution 1 in 740 lies above.
inline constexpr double kSpreads = 3;
// Of the step; deviations of smaller parts are ignored, because they change nothing.
inline constexpr double kSmallPart = 0.01;
// So many ranks of references have a spread.
inline constexpr size_t kFewestReferences = 3;

// ---- nights ----

// Runs of each row in a night: the median then tolerates one outlier.
inline constexpr int64_t kRunsOfANight = 3;
// Smallest relevant change of a metric other than seconds: the A/A experiments of `ab` tell only the noise of
// seconds.
inline constexpr double kMetricMargin = 0.05;
// Smallest relevant change of a canary from night to night: between that of seconds and that of other
// metrics.
inline constexpr double kCanaryMargin = 0.03;
// A canary that changes by more within a night says that the machine did.
inline constexpr double kCanaryDrift = 0.10;
// Shorter series raise no alarm: their scatter isn't known.
inline constexpr size_t kFewestNights = 20;
// Both levels of a change last as long, so that a single outlier raises no alarm.
inline constexpr size_t kNightsToLast = 3;
// Older changes are drawn, but raise no alarm: the cause of a change is sought while it is new.
inline constexpr size_t kNightsOfNews = 30;
// Two analyses may place the same change so many nights apart.
inline constexpr size_t kSameChange = 3;
// A row and a canary that change so many nights apart have the same cause.
inline constexpr size_t kAboutTheSameNight = 2;
// Changes are searched only in this many last values of a series, so that a search takes no longer as the
// history grows.
inline constexpr size_t kNightsLookedAt = 500;
// A night is compared with the median of so many before it, which one odd night hardly moves.
inline constexpr size_t kTypicalOver = 20;

}  // namespace harness::inline policy

// Claims: what the article asserts, each with a verdict from the records at hand.
#pragma once
#include <string>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// by_construction: it follows from a setting that we chose, such as a shaped link or a read rate, and so is
// no finding. undecided: the interval spans a limit, or fewer than kFewestRuns runs give
// none.
enum class ClaimVerdict { holds, does_not_hold, undecided, by_construction, cannot_be_tested };
const char* text_of(ClaimVerdict verdict);

// One thing that a claim asserts; a claim of several holds only if all of them do.
struct ClaimPart {
  std::string text;               // in our words
  std::vector<std::string> rows;  // that it is about, by id
  ClaimVerdict verdict = ClaimVerdict::cannot_be_tested;
  std::string figure;  // the measured one that decides, with its interval; empty where there is none
  std::string reason;  // what the figure is, the limit it is held against, or what is missing
};

struct Claim {
  int number = 0;  // in the article's order, 1-17
  std::vector<ClaimPart> parts;
  ClaimVerdict verdict = ClaimVerdict::cannot_be_tested;
  std::string
      mark;  // REHEARSAL: the verdict is about this machine at this size; empty at the article's scale
};

// All 17; none when the summary has no row of the article's matrix.
std::vector<Claim> claims_of(const Summary& summary);
Grid claims_grid(const Summary& summary);

}  // namespace harness

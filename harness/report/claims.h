// The claims of the article and of a user's own matrices, each with a verdict from the records of a run.
#pragma once
#include <string>
#include <vector>

#include "harness/experiment/verdict.h"
#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// by_construction: the result follows from a setting of the suite, such as the rate of an emulated link, and
// is not a finding. undecided: the interval contains a limit, or there is none (summary/ratio.h).
// not_measured: no row of the matrix answers it on any machine.
enum class ClaimVerdict { holds, does_not_hold, undecided, by_construction, cannot_be_tested, not_measured };
const char* text_of(ClaimVerdict verdict);

struct Finding {
  ClaimVerdict verdict = ClaimVerdict::cannot_be_tested;
  std::string figure = {};  // the deciding measurement with its interval; empty if there is none
  std::string reason = {};  // what the figure is and its limit, or what is missing
  Judgement test =
      {};  // its p in a claim by Holm's correction for all tested parts of a run; without p: not by a test
};

// One assertion of a claim. A claim holds only if all its parts hold, apart from those that are not_measured.
struct ClaimPart : Finding {
  std::string text = {};               // paraphrased
  std::vector<std::string> rows = {};  // ids of the rows that it is about
};

struct Claim {
  int number = 0;    // in its matrix's order, from 1
  bool own = false;  // of a user's matrix, not of the article
  std::vector<ClaimPart> parts = {};
  ClaimVerdict verdict = ClaimVerdict::cannot_be_tested;
  std::string mark = {};  // as the summary's
};

// By Holm's method over all parts of the run; those whose p is then kLevel or more become undecided.
void correct_for_their_number(std::vector<Claim>& claims);
// The article's claims if the summary has a row of its matrix, then the run's own.
std::vector<Claim> claims_of(const Summary& summary);
// `6 hold, 1 does not, 9 by construction, 1 undecided, 0 not tested here`; empty without claims.
std::string claims_line(const std::vector<Claim>& claims);
Grid claims_grid(const Summary& summary, bool own = false);
// Which claims a planned run can test. The rows of `planned` have no figures, and status OK if they will run.
// What only shows then (a cold page cache, drift, too few runs) is taken to go well. Empty without claims.
std::string claim_forecast(const Summary& planned);

}  // namespace harness

// The article's claims, each with a verdict from the records of a run.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// by_construction: the result follows from a setting of the suite, such as the rate of an emulated link, and
// is not a finding. undecided: the interval contains a limit, or there is none (summary/ratio.h).
// not_measured: no row of the matrix answers it on any machine.
enum class ClaimVerdict { holds, does_not_hold, undecided, by_construction, cannot_be_tested, not_measured };
const char* text_of(ClaimVerdict verdict);

// One assertion of a claim. A claim holds only if all its parts hold, apart from those that are not_measured.
struct ClaimPart {
  std::string text;               // paraphrased
  std::vector<std::string> rows;  // ids of the rows that it is about
  ClaimVerdict verdict = ClaimVerdict::cannot_be_tested;
  std::string figure;          // the deciding measurement with its interval; empty if there is none
  std::string reason;          // what the figure is and its limit, or what is missing
  std::optional<double> p;     // Holm's adjusted p over all tested parts of a run; nullopt: not by a test
  bool lacks_devices = false;  // devices apart from the processor, also emulated ones, could answer it
};

struct Claim {
  int number = 0;  // in the article's order, 1-17
  std::vector<ClaimPart> parts;
  ClaimVerdict verdict = ClaimVerdict::cannot_be_tested;
  std::string mark;  // as the summary's
};

// With twenty tests at 5 % one would err by chance. Holm's correction of the parts' p keeps the probability
// that any verdict of the run is false by chance at 5 %: parts whose adjusted p is 0.05 or more become
// undecided.
void correct_for_their_number(std::vector<Claim>& claims);
// All 17 claims; empty if the summary has no row of the article's matrix.
std::vector<Claim> claims_of(const Summary& summary);
// The same before the rows have run: parts that the planned rows can test have no reason.
std::vector<Claim> claims_to_test(const Summary& planned);
// The claims of each verdict that some claim has.
std::vector<std::pair<ClaimVerdict, std::vector<int>>> numbers_by_verdict(const std::vector<Claim>& claims);
// `6 hold, 1 does not, 9 by construction, 1 undecided, 0 cannot be told`; empty without claims.
std::string claims_line(const std::vector<Claim>& claims);
Grid claims_grid(const Summary& summary);
// A sentence on how to test claims for which a processor lacks devices; empty if there are none.
std::string emulated_hint(const Summary& summary);

}  // namespace harness

// Which of the article's claims a planned run can test.
#pragma once
#include <string>

#include "harness/contract/record.h"

namespace harness {

// `planned`: a record of each row without figures, with status OK if it will run. One line per part of a
// claim whose conditions the plan doesn't meet, and why; the others in one line. What only shows when the
// rows run (a cold page cache, drift, too few runs) is taken to go well. Empty without rows of the article.
std::string claim_forecast(const Records& planned);

}  // namespace harness

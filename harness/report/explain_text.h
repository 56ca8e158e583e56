// The answer of `explain` as text and tables.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "harness/report/summary/explanation.h"
#include "harness/report/summary/grid.h"

namespace harness {

std::vector<std::pair<std::string, std::string>> explain_facts(const Explanation& explanation);
Grid explain_grid(const Explanation& explanation);
std::string explain_text(const std::vector<Explanation>& explanations);

}  // namespace harness

// Figures of a comparison: ratios with intervals, and the differences by phase.
#pragma once
#include <nlohmann/json.hpp>

#include "harness/compare/comparison.h"
#include "harness/report/figures/figure.h"

namespace harness {

// Fill plots/comparison.vl.json and plots/difference.vl.json with data; return false if there is none.
bool fill_ratios(nlohmann::json& spec, const Comparison& comparison);
bool fill_differences(nlohmann::json& spec, const Comparison& comparison, const Colours& phases);

}  // namespace harness

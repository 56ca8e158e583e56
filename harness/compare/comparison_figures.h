// Figures of a comparison: ratios with intervals, and what differences are made of.
#pragma once
#include <nlohmann/json.hpp>

#include "harness/compare/comparison.h"

namespace harness {

// plots/comparison.vl.json and plots/difference.vl.json with their data; false when there is none to show.
bool fill_ratios(nlohmann::json& spec, const Comparison& comparison);
bool fill_differences(nlohmann::json& spec, const Comparison& comparison, const nlohmann::json& palette);

}  // namespace harness

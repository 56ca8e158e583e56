// The page's sections: blocks of text, tables and figures, in the order in which a reader needs them.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/figures.h"
#include "harness/report/summary/summary.h"

namespace harness {

// [{id, title, part, blocks}] for plots/report.js, which says what a block can be. Figures stand in the
// section of their topic under `prefix` + name; `part` heads the sections where a run has several summaries.
nlohmann::json summary_sections(const Summary& summary, const std::vector<std::string>& figure_names,
                                const std::string& prefix, const std::string& part);

// What concerns the run as a whole: environment, raw records.
nlohmann::json common_sections(const Records& records, const std::string& left_out, const std::string& raw);

}  // namespace harness

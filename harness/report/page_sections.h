// The page's sections: blocks of text, tables and figures, the most important first.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/report/figures.h"
#include "harness/report/summary/summary.h"

namespace harness {

// [{id, title, part, blocks}]; plots/report.js lists the kinds of blocks. Each figure is in the section of
// its topic under `prefix` + name. `part` is the heading of these sections if a run has several summaries.
nlohmann::json summary_sections(const Summary& summary, const std::vector<std::string>& figure_names,
                                const std::string& prefix, const std::string& part);

// A section for each row that `explain` explained; empty for other runs.
nlohmann::json explain_sections(const Records& records);

// The sections about the run as a whole: environment, raw records.
nlohmann::json common_sections(const Records& records, const std::string& left_out, const std::string& raw);

// What words and headers of columns mean.
const Facts& glossary();

}  // namespace harness

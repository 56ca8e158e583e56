// The tables of a run, apart from those of the article, of claims and of `explain` and `feed`.
#pragma once
#include <string>
#include <vector>

#include "harness/contract/record.h"
#include "harness/report/summary/grid.h"
#include "harness/report/summary/summary.h"

namespace harness {

// The main table, with remarks as letters. A row that isn't OK has its status and reason instead of figures.
Grid matrix_grid(const Summary& summary);
// What ran in each row, and its remarks in words.
Grid remarks_in_words(const Summary& summary);

std::vector<std::string> header_lines(const Summary& summary);
std::vector<std::string> legend_lines(const Summary& summary);

// The article's rows on emulated devices, in its seconds: which of its figures the device file was calibrated
// on, how far it predicts the other rows, and why not further. Empty without such rows. A row that is not OK
// has its status instead of a number.
Grid emulated_grid(const Summary& summary);

// Label and text: machine, build, libraries, data, times. If a value differs within the run, all are listed.
Facts environment_facts(const Records& records);

Grid disturbance_grid(const Records& records);  // per row and repeat: load, steal, memory
Grid remarks_grid(const Records& records);      // notes, emulation, warnings, failed checks
Grid rank_grid(const Records& records);         // node, host, device and cores of each rank of each row

}  // namespace harness

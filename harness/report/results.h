// Everything that a run leaves for people to look at.
#pragma once
#include <filesystem>
#include <ostream>

#include "harness/contract/record.h"

namespace harness {

// Table, figures and page of a run that has just ended, into its folder; the table is printed too. False when
// there is nothing to show. `project` holds plots/. Throws std::runtime_error when a file can't be written.
bool write_results(const std::filesystem::path& project, const std::filesystem::path& run,
                   const Records& records, std::ostream& console);

// The same again from the records of a finished run, all tables printed; with figures only if asked.
bool rebuild_results(const std::filesystem::path& project, const std::filesystem::path& run, bool figures,
                     std::ostream& console);

}  // namespace harness

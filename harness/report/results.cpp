#include "harness/report/results.h"

#include <iostream>
#include <sstream>

#include "harness/base/interrupt.h"
#include "harness/report/claims.h"
#include "harness/report/feed_text.h"
#include "harness/report/figures.h"
#include "harness/report/page.h"
#include "harness/report/table.h"
#include "harness/stats/common_time.h"
#include "harness/stats/records.h"

namespace harness {

namespace fs = std::filesystem;

// feed.txt of a run of `feed`. Returns its text; empty for other runs.
static std::string write_feed(const fs::path& run, const std::vector<Summary>& summaries) {
  for (const Summary& summary : summaries)
    if (const auto answer = feed_answer(summary)) {
      const std::string text = feed_text(*answer);
      write_text(run / "feed.txt", text);
      return text;
    }
  return "";
}

bool write_results(const fs::path& project, const fs::path& run, const Records& measured,
                   std::ostream& console) {
  const Records records = in_common_time(measured);
  const std::vector<Summary> summaries = summarise(records);
  if (!write_report(run, summaries, console)) return false;
  write_feed(run, summaries);
  write_figures(run, summaries, project, std::cerr);
  if (base::interrupts() < 2) write_page(run, records, summaries, "", project, console);
  for (const Summary& summary : summaries)
    if (const std::string hint = emulated_hint(summary); !hint.empty())
      console << wrap(hint, kConsoleWidth, "  ") << '\n';
  return true;
}

bool rebuild_results(const fs::path& project, const fs::path& run, bool figures, std::ostream& console) {
  std::ostringstream left_out;
  const Records records = in_common_time(read_records(run, left_out));
  std::cerr << left_out.str();
  const std::vector<Summary> summaries = summarise(records);
  if (!write_report(run, summaries, console, Shown::everything)) return false;
  console << write_feed(run, summaries);
  if (figures) write_figures(run, summaries, project, std::cerr);
  write_page(run, records, summaries, left_out.str(), project, console);
  return true;
}

}  // namespace harness

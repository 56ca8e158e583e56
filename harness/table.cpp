// Lays a summary out as a console table, Markdown and CSV; every number comes from summary.h.
#include "harness/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <stdexcept>

#include "harness/records.h"

namespace harness {
namespace {

constexpr size_t console_width = 120;
constexpr size_t narrowest_title = 12;

// About four digits, so that columns stay narrow at every scale.
std::string number(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 1000 ? 1 : 0);
}

size_t width_of(const std::string& text) {  // code points: good enough for the Latin text of titles and reasons
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string fit(const std::string& text, size_t width) {
  if (width_of(text) <= width) return text + std::string(width - width_of(text), ' ');
  size_t bytes = 0;
  for (size_t points = 0; bytes < text.size(); ++bytes)
    if ((text[bytes] & 0xC0) != 0x80 && points++ == width - 2) break;
  return text.substr(0, bytes) + "..";
}

// Text of a record on one line of a table: it may hold anything a crashed process printed.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 32 || c == 127) c = ' ';
  return text;
}

std::string wrap(const std::string& text, size_t width, const std::string& indent) {
  std::string lines, line;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string word = text.substr(begin, end - begin);
    if (!line.empty() && width_of(line) + 1 + width_of(word) > width) {
      lines += line + "\n" + indent;
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
    begin = end + 1;
  }
  return lines + line;
}

struct Cells {
  std::vector<std::string> headers;
  std::vector<bool> is_text;               // left-aligned
  std::vector<std::vector<std::string>> rows;  // one list per OK row, in order
};

bool any_repeats(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(), [](const SummaryRow& row) { return row.repeats > 1; });
}

std::vector<const PhaseGroup*> shown_groups(const Summary& summary) {
  std::vector<const PhaseGroup*> shown;
  for (const PhaseGroup& group : phase_groups())
    for (const SummaryRow& row : summary.rows)
      if (group_share(row.run, group) >= 0.005) {
        shown.push_back(&group);
        break;
      }
  return shown;
}

// `narrow` leaves room for the title in a console: the interval as the wider of its halves.
std::string median_cell(const RunStatistics& run, bool narrow) {
  if (!run.has_samples) return "-";
  if (!run.median_ci_ms) return number(run.median_ms);
  const double half = std::max(run.median_ms - run.median_ci_ms->low, run.median_ci_ms->high - run.median_ms);
  if (narrow) return fmt::format("{} ±{:.1f}%", number(run.median_ms), 100 * half / run.median_ms);
  return fmt::format("{} [{} {}]", number(run.median_ms), number(run.median_ci_ms->low), number(run.median_ci_ms->high));
}

std::string ratio_cell(const SummaryRow& row, bool narrow) {
  if (!row.ratio) return "-";
  const std::string base = text_at({{"config", row.config}}, "/config/base");
  return fmt::format("{:.2f}{}{} {}", *row.ratio, row.batch_differs ? "*" : "", row.window_differs ? "!" : "",
                     narrow && width_of(base) > 8 ? fit(base, 8) : base);
}

std::string codes_of(const SummaryRow& row) {
  std::string codes;
  for (const Flag& flag : row.flags)
    if (codes.find(flag.code) == std::string::npos) codes += flag.code;
  return codes;
}

std::string flag_texts(const SummaryRow& row) {
  std::string texts;
  for (const Flag& flag : row.flags) texts += (texts.empty() ? "" : "; ") + one_line(flag.text);
  return texts;
}

// The columns that console and Markdown share: all but id, title and flags.
Cells figures_of(const Summary& summary, bool narrow) {
  const std::vector<const PhaseGroup*> groups = shown_groups(summary);
  const bool repeats = any_repeats(summary);
  Cells cells;
  const auto column = [&](const std::string& header, bool is_text = false) {
    cells.headers.push_back(header);
    cells.is_text.push_back(is_text);
  };
  column("s");
  if (repeats) column("[min max]");
  column("img/s");
  for (const PhaseGroup* group : groups) column(group->name);
  column(narrow ? "median ms" : "median ms [CI]", true);
  column("ratio to", true);
  column("article");
  for (const SummaryRow& row : summary.rows) {
    if (!row.ok()) continue;
    std::vector<std::string> line = {number(row.total_s)};
    if (repeats)
      line.push_back(row.repeats_ok > 1 ? fmt::format("[{} {}]", number(row.total_min_s), number(row.total_max_s)) : "-");
    line.push_back(fmt::format("{:.0f}", row.images_per_second));
    for (const PhaseGroup* group : groups)
      line.push_back(row.run.has_samples ? fmt::format("{:.0f}", 100 * group_share(row.run, *group)) : "-");
    line.push_back(median_cell(row.run, narrow));
    line.push_back(ratio_cell(row, narrow));
    line.push_back(row.published_ratio ? fmt::format("{:.2f}", *row.published_ratio) : "-");
    cells.rows.push_back(std::move(line));
  }
  return cells;
}

std::vector<std::string> header_lines(const Summary& summary) {
  std::vector<std::string> lines;
  const std::string scale = summary.scale_summary.empty() ? summary.scale : summary.scale_summary;
  if (summary.mark.empty())
    lines.push_back(fmt::format("Scale article: {}", scale));
  else
    lines.push_back(fmt::format("{}, {}: {}", summary.mark,
                                summary.scale == "smoke" ? "a test of the program, no result"
                                                         : "not the article's hardware or sizes", scale));
  lines.push_back(fmt::format("{}: {}", summary.device, summary.machine));
  lines.push_back(summary.build + (summary.data.empty() ? "" : "; data: " + summary.data));
  if (!summary.inferred.empty())
    lines.push_back("Inferred in every row, not stated by the article: " + summary.inferred);
  return lines;
}

std::vector<std::string> legend_lines(const Summary& summary, bool narrow) {
  std::vector<std::string> lines = {fmt::format(
      "s: seconds for {} timed batches{}. Phases (load ..): % of the step{}; move = h2d + scatter + broadcast, "
      "loss with gather, comm = reduce + sync.",
      summary.timed_batches, any_repeats(summary) ? ", median of the repeats [min max]" : "",
      any_repeats(summary) ? ", of the median repeat" : "")};
  lines.push_back(fmt::format("{}: 95 % interval of the median within one run, not for comparisons. ratio: seconds of "
                              "the base / seconds of the row (above 1 = faster); article: the same of its figures.",
                              narrow ? "±" : "[CI]"));
  std::string codes;
  bool batch = false, window = false;
  for (const SummaryRow& row : summary.rows) {
    if (row.ok()) codes += codes_of(row);
    batch |= row.ratio && row.batch_differs;
    window |= row.ratio && row.window_differs;
  }
  if (batch) lines.push_back("* the base has another batch size: the ratio is of batches, not of images.");
  if (window) lines.push_back("! the base was timed in another window.");
  if (narrow)
    for (char code : std::set<char>(codes.begin(), codes.end()))
      lines.push_back(fmt::format("{} {}", code, flag_meaning(code)));
  return lines;
}

std::string escape_markdown(const std::string& text) {
  std::string out;
  for (char c : one_line(text)) {
    if (c == '|' || c == '<' || c == '*') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string console_table(const Summary& summary) {
  const Cells cells = figures_of(summary, true);
  size_t id_width = 3, title_width = 4, code_width = 0;
  for (const SummaryRow& row : summary.rows) {
    id_width = std::max(id_width, width_of(row.id));
    title_width = std::max(title_width, width_of(row.title));
    code_width = std::max(code_width, codes_of(row).size() + 1 + row.cache.size());
  }
  std::vector<size_t> widths;
  size_t others = id_width + 1 + 1 + code_width;
  for (size_t i = 0; i < cells.headers.size(); ++i) {
    size_t width = width_of(cells.headers[i]);
    for (const auto& row : cells.rows) width = std::max(width, width_of(row[i]));
    widths.push_back(width);
    others += width + 1;
  }
  const size_t room = console_width > others + narrowest_title ? console_width - others : narrowest_title;
  title_width = std::min(title_width, room);

  std::string text;
  for (const std::string& line : header_lines(summary)) text += wrap(line, console_width - 2, "  ") + "\n";
  const auto print = [&](const std::string& id, const std::string& title, const std::vector<std::string>& line,
                         const std::string& end) {
    std::string out = fit(id, id_width) + " " + fit(one_line(title), title_width);
    for (size_t i = 0; i < line.size(); ++i)
      out += " " + (cells.is_text[i] ? fit(line[i], widths[i])
                                     : std::string(widths[i] - width_of(line[i]), ' ') + line[i]);
    out += " " + end;
    out.erase(out.find_last_not_of(' ') + 1);
    text += out + "\n";
  };
  text += "\n";
  print("row", "what", cells.headers, "flags");
  size_t next = 0;
  for (const SummaryRow& row : summary.rows) {
    if (row.ok()) {
      const std::string end = row.cache.empty() || row.cache == "none" ? "" : row.cache + " ";
      print(row.id, row.title, cells.rows[next++], end + codes_of(row));
      continue;
    }
    const size_t indent = id_width + 1 + title_width + 1;
    const std::string reason = row.status + ": " + one_line(row.reason);
    print(row.id, row.title, {}, wrap(reason, console_width - indent, std::string(indent, ' ')));
  }
  text += "\n";
  for (const std::string& line : legend_lines(summary, true)) text += wrap(line, console_width - 2, "  ") + "\n";
  return text;
}

std::string markdown_table(const Summary& summary) {
  const Cells cells = figures_of(summary, false);
  std::string text;
  for (const std::string& line : header_lines(summary)) text += escape_markdown(line) + "  \n";
  text += "\n| row | what | ran | cache |";
  std::string rule = "|---|---|---|---|";
  for (size_t i = 0; i < cells.headers.size(); ++i) {
    text += " " + cells.headers[i] + " |";
    rule += cells.is_text[i] ? "---|" : "---:|";
  }
  text += " flags |\n" + rule + "---|\n";
  size_t next = 0;
  for (const SummaryRow& row : summary.rows) {
    text += fmt::format("| {} | {} | {} | {} |", escape_markdown(row.id), escape_markdown(row.title),
                        row.ok() ? escape_markdown(row.ran) : "", row.ok() ? row.cache : "");
    if (row.ok())
      for (const std::string& cell : cells.rows[next++]) text += " " + escape_markdown(cell) + " |";
    else
      text += " " + row.status + " |" + std::string(cells.headers.size() - 1, '|');
    const std::string reason = row.ok() ? "" : escape_markdown(row.reason);
    const std::string flags = row.ok() ? escape_markdown(flag_texts(row)) : "";
    text += " " + reason + flags + " |\n";
  }
  text += "\n";
  for (const std::string& line : legend_lines(summary, false)) text += escape_markdown(line) + "  \n";
  return text;
}

bool write_report(const std::filesystem::path& run_dir, const std::vector<nlohmann::json>& records,
                  std::ostream& console) {
  if (records.empty()) {
    console << run_dir.string() << ": no records, nothing ran\n";
    return false;
  }
  const std::vector<Summary> summaries = summarise(records);
  std::string text, markdown;
  for (const Summary& summary : summaries) {
    text += (text.empty() ? "" : "\n") + console_table(summary);
    markdown += (markdown.empty() ? "" : "\n") + markdown_table(summary);
  }
  console << text;
  write_text(run_dir / "table.txt", text);
  write_text(run_dir / "table.md", markdown);
  write_text(run_dir / "table.csv", csv_table(summaries));
  return true;
}

void write_text(const std::filesystem::path& file, const std::string& text) {
  std::ofstream output(file, std::ios::binary | std::ios::trunc);
  output << text << std::flush;
  if (!output)
    throw std::runtime_error(fmt::format("{}: cannot be written: {}; free space there or allow writing, then "
                                         "`./run_matrix report {}`",
                                         file.string(), std::strerror(errno), file.parent_path().string()));
}

}  // namespace harness

// Collects the figures that a run has data for, writes their specs and calls the renderer.
#include "harness/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "harness/base/interrupt.h"
#include "harness/report/figures/figure.h"
#include "harness/report/page_file.h"
#include "harness/report/table.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct FigureKind {
  const char* name;
  FigureData (*data)(const Summary&);
};

constexpr std::array kinds = {
    FigureKind{"feed", feed_data},       FigureKind{"cascade", cascade_data},
    FigureKind{"phases", phases_data},   FigureKind{"timeline", timeline_data},
    FigureKind{"batches", batches_data}, FigureKind{"communication", communication_data},
    FigureKind{"ranks", ranks_data},
};

// Puts the scale's mark before the title; scale, machine, build and data before the notes below it.
void complete_title(json& title, const Summary& summary, const std::string& run) {
  const std::string mark = summary.mark.empty() ? "" : summary.mark + ": ";
  title["text"] = mark + title["text"].get<std::string>();
  json lines = {"Ran: " + (summary.scale_summary.empty() ? summary.scale : summary.scale_summary) +
                    (mark.empty() ? "" : "; not the article's hardware or sizes"),
                fmt::format("{}: {}; {}", summary.device, summary.machine, summary.build),
                fmt::format("{}{}run {}", summary.set.empty() ? "" : "set by hand: " + summary.set + "; ",
                            summary.data.empty() ? "" : "data: " + summary.data + "; ", run)};
  lines.insert(lines.end(), title["subtitle"].begin(), title["subtitle"].end());
  constexpr size_t widest = 135;  // a subtitle wider than the chart would widen the whole figure
  for (json& line : lines)
    if (width_of(line) > widest) line = fit(line, widest);
  title["subtitle"] = lines;
}

// Removes only files with this program's names: the folder may also contain the user's own files.
void remove_old_figures(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const std::string stem = name.substr(0, name.find_first_of(".-"));
    const std::string ending = name.substr(std::min(name.find('.'), name.size()));
    const bool ours = std::ranges::any_of(kinds, [&](const FigureKind& kind) { return stem == kind.name; });
    if (ours && (ending == ".vl.json" || ending == ".svg" || ending == ".png")) fs::remove(entry.path());
  }
}

// Returns whether the renderer ran and succeeded.
bool render(const fs::path& source_dir, const std::vector<std::string>& specs, std::ostream& console) try {
  return run_plot_script(source_dir, "render.py", specs).has_value();
} catch (const std::runtime_error& error) {
  console << error.what() << "\n";
  return false;
}

}  // namespace

std::string run_name(const fs::path& run_dir) {
  return fs::absolute(run_dir / "records.jsonl").lexically_normal().parent_path().filename();
}

std::vector<Figure> figures_of(const Summary& summary, const std::string& run, const fs::path& source_dir) {
  std::vector<Figure> figures;
  for (const FigureKind& kind : kinds) {
    FigureData data = kind.data(summary);
    if (data.values.empty()) continue;
    figures.push_back({kind.name, filled_figure(source_dir, kind.name, std::move(data))});
    complete_title(figures.back().spec["title"], summary, run);
  }
  return figures;
}

void write_figures(const fs::path& run_dir, const std::vector<Summary>& summaries, const fs::path& source_dir,
                   std::ostream& console) {
  const fs::path folder = run_dir / "plots";
  fs::create_directories(folder);
  remove_old_figures(folder);
  const auto measured = [](const Summary& summary) {
    return std::ranges::any_of(summary.rows, [](const auto& row) { return row.ok(); });
  };
  if (std::ranges::none_of(summaries, measured)) return;
  const std::string run = run_name(run_dir);
  std::vector<std::string> specs;
  for (const Summary& summary : summaries) {
    const std::string suffix =
        &summary == &summaries.front() ? "" : fmt::format("-{}-{}", summary.scale, summary.device);
    for (const Figure& figure : figures_of(summary, run, source_dir)) {
      specs.push_back(folder / (figure.name + suffix + ".vl.json"));
      write_text(specs.back(), figure.spec.dump() + "\n");
    }
  }
  if (specs.empty()) return;
  console << std::flush;
  if (render(source_dir, specs, console))
    console << "plots: " << folder.string() << "/*.svg and *.png, also *-dark\n";
  else if (base::interrupts() > 1)
    console << fmt::format(
        "plots: not rendered because of a second interrupt; `./run_matrix plot {}` renders them\n",
        run_dir.string());
  else if (fs::exists(source_dir / ".venv/bin/python"))  // what it ran has told why
    console << fmt::format(
        "warning: plots were not rendered, for the reason above; `./run_matrix plot {}` renders them. Their "
        "data and specs are in {}\n",
        run_dir.string(), folder.string());
  else
    console << fmt::format(
        "warning: plots were not rendered. In a clone, run ./run_matrix once without --no-install, then "
        "`./run_matrix plot {0}`; from elsewhere, copy {0} there before. Their data and specs are in {1}\n",
        run_dir.string(), folder.string());
}

}  // namespace harness

// Collects the figures that a run has data for, writes their specs and calls the renderer.
#include "harness/report/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "harness/base/child_process.h"
#include "harness/base/interrupt.h"
#include "harness/base/json_text.h"
#include "harness/report/figures/figure.h"
#include "harness/report/table.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct FigureKind {
  const char* name;
  FillFigure fill;
};

constexpr std::array kinds = {
    FigureKind{"feed", fill_feed},       FigureKind{"cascade", fill_cascade},
    FigureKind{"phases", fill_phases},   FigureKind{"timeline", fill_timeline},
    FigureKind{"batches", fill_batches}, FigureKind{"communication", fill_communication},
    FigureKind{"ranks", fill_ranks},
};

json read_json(const fs::path& file) {
  json value = base::parse_json_file(file);
  if (value.is_discarded())
    throw std::runtime_error(file.string() + ": missing or not JSON; restore it from the repository");
  return value;
}

// Removes only files with this program's names: the folder may also contain the user's own files.
void remove_old_figures(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    const std::string stem = name.substr(0, name.find_first_of(".-"));
    const std::string ending = name.substr(std::min(name.find('.'), name.size()));
    const bool ours =
        std::any_of(kinds.begin(), kinds.end(), [&](const FigureKind& kind) { return stem == kind.name; });
    if (ours && (ending == ".vl.json" || ending == ".svg" || ending == ".png")) fs::remove(entry.path());
  }
}

// Returns whether the renderer ran and succeeded.
bool render(const fs::path& source_dir, const std::vector<std::string>& specs, std::ostream& console) {
  const fs::path python = source_dir / ".venv/bin/python";
  if (!fs::exists(python)) return false;  // an unpacked bundle may have none
  base::Command command;
  command.arguments = {python, source_dir / "plots/render.py"};
  command.arguments.insert(command.arguments.end(), specs.begin(), specs.end());
  try {
    return base::run_to_end(command, /*interrupts_to_end=*/2).exit_code == 0;
  } catch (const std::runtime_error& error) {
    console << error.what() << "\n";
    return false;
  }
}

}  // namespace

std::vector<Figure> figures_of(const Summary& summary, const std::string& run, const fs::path& source_dir) {
  const FigureSource source{summary, run, read_palette(source_dir)};
  std::vector<Figure> figures;
  for (const FigureKind& kind : kinds) {
    json spec = read_json(source_dir / "plots" / (std::string(kind.name) + ".vl.json"));
    if (kind.fill(spec, source)) figures.push_back({kind.name, std::move(spec)});
  }
  return figures;
}

void write_figures(const fs::path& run_dir, const std::vector<Summary>& summaries, const fs::path& source_dir,
                   std::ostream& console) {
  const fs::path folder = run_dir / "plots";
  fs::create_directories(folder);
  remove_old_figures(folder);
  const auto measured = [](const Summary& summary) {
    return std::any_of(summary.rows.begin(), summary.rows.end(), [](const auto& row) { return row.ok(); });
  };
  if (std::none_of(summaries.begin(), summaries.end(), measured)) return;
  const std::string run = fs::absolute(run_dir / "records.jsonl").parent_path().filename();
  std::vector<std::string> specs;
  bool is_first = true;
  for (const Summary& summary : summaries) {
    const std::string suffix = is_first ? "" : fmt::format("-{}-{}", summary.scale, summary.device);
    is_first = false;
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
  else
    console << fmt::format(
        "warning: plots were not rendered. In a clone, run ./run_matrix once without --no-install, then "
        "`./run_matrix plot {0}`; from elsewhere, copy {0} there before. Their data and specs are in {1}\n",
        run_dir.string(), folder.string());
}

}  // namespace harness

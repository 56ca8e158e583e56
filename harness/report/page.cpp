// Combines sections, figures and the records of a run into one page.
#include "harness/report/page.h"

#include <fmt/format.h>

#include "harness/base/json_text.h"
#include "harness/contract/run_command.h"
#include "harness/report/page_file.h"
#include "harness/report/page_sections.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Without the drawing library: the SVG files that an earlier `plot` wrote, by figure, in base64.
json pictures(const fs::path& run_dir, const std::vector<std::string>& names, const std::string& suffix) {
  json images = json::object();
  for (const std::string& name : names)
    if (const fs::path file = run_dir / "plots" / (name + suffix + ".svg"); fs::exists(file))
      images[name] = base64(read_text(file));
  return images;
}

// The command that repeats the run, from its request.json; empty without such a file.
std::string command_of(const fs::path& run_dir, const fs::path& source_dir) {
  if (!fs::exists(run_dir / "request.json")) return "";
  const json request = base::parse_json_file(run_dir / "request.json");
  return request.is_object() ? run_command("./run_matrix", request, source_dir) : "";
}

}  // namespace

void write_page(const fs::path& run_dir, const Records& records, const std::vector<Summary>& summaries,
                const std::string& left_out, const fs::path& source_dir, std::ostream& console) {
  const std::string run = fs::absolute(run_dir / "records.jsonl").parent_path().filename();

  PageFile file;
  file.page["title"] = run;
  for (const Term& term : glossary()) {
    file.page["terms"][term.word] = term.word;
    for (const std::string& header : term.headers) file.page["terms"][header] = term.word;
  }
  file.library = drawing_library(source_dir);
  file.without_script = "the file table.md in the same folder has the tables";
  for (json& section : explain_sections(records)) file.page["sections"].push_back(std::move(section));
  // The sections of a matrix ask what rows do to one another; an explained row's changes are no matrix.
  const bool explained = !file.page["sections"].empty();
  for (const Summary& summary : explained ? std::vector<Summary>() : summaries) {
    const std::string key = fmt::format("{}-{}", summary.scale, summary.device);
    const std::string prefix = summaries.size() > 1 ? key + "-" : "";
    std::vector<std::string> names;
    for (const Figure& figure : figures_of(summary, run, source_dir)) {
      names.push_back(figure.name);
      if (!file.library.empty()) file.specs[prefix + figure.name] = figure.spec;
    }
    if (file.library.empty()) {
      const std::string suffix = &summary == &summaries.front() ? "" : "-" + key;
      const json images = pictures(run_dir, names, suffix);
      std::erase_if(names, [&](const std::string& name) { return !images.contains(name); });
      for (const auto& [name, image] : images.items()) file.images[prefix + name] = image;
    }
    for (json& section : summary_sections(summary, names, prefix, summaries.size() > 1 ? key : ""))
      file.page["sections"].push_back(std::move(section));
  }
  file.records = read_text(run_dir / "records.jsonl");
  json common = common_sections(records, left_out, file.records);
  if (const std::string command = command_of(run_dir, source_dir); !command.empty())
    for (json& section : common)
      if (section["id"] == "environment")
        section["blocks"].push_back({{"facts", json::array({json::array({"run with", command})})}});
  for (json& section : common) file.page["sections"].push_back(std::move(section));
  if (file.library.empty())
    file.page["note"] = fmt::format(
        "Figures don't show values under the mouse, because the plot renderer is missing: run ./run_matrix "
        "once without --no-install, then `./run_matrix report {}`.",
        run_dir.string());
  write_page_file(run_dir / "report.html", std::move(file), source_dir);
  console << "report: " << (run_dir / "report.html").string() << '\n';
}

}  // namespace harness

// Puts the parts together: data as JSON, figures, the drawing library and the records packed.
#include "harness/report/page.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "harness/child_process.h"
#include "harness/report/embedding.h"
#include "harness/report/page_sections.h"
#include "harness/report/table.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

std::string read_text(const fs::path& file) {
  std::ifstream input(file, std::ios::binary);
  std::ostringstream text;
  text << input.rdbuf();
  if (!input)
    throw std::runtime_error(fmt::format("{}: {}; restore it", file.string(), std::strerror(errno)));
  return text.str();
}

// Vega, Vega-Lite and vega-embed as one script; empty where the renderer is missing.
std::string drawing_library(const fs::path& source_dir) {
  const fs::path python = source_dir / ".venv/bin/python";
  if (!fs::exists(python)) return "";
  Command command;
  command.arguments = {python, source_dir / "plots/bundle.py"};
  const Finished finished = run_to_end(command);
  return finished.exit_code == 0 ? finished.output : "";
}

// To what an eye and a mouse can tell apart: figures of full length would double the page's share of them.
void shorten_numbers(json& value) {
  if (value.is_number_float())
    value = std::stod(fmt::format("{:.6g}", value.get<double>()));
  else if (value.is_structured())
    for (json& child : value) shorten_numbers(child);
}

// Pictures that an earlier `plot` left, as they are without the drawing library.
json pictures(const fs::path& run_dir, const std::vector<std::string>& names, const std::string& suffix) {
  json images = json::object();
  for (const std::string& name : names)
    if (const fs::path file = run_dir / "plots" / (name + suffix + ".svg"); fs::exists(file))
      images[name] = base64(read_text(file));
  return images;
}

}  // namespace

void write_page(const fs::path& run_dir, const std::vector<json>& records, const std::string& left_out,
                const fs::path& source_dir, std::ostream& console) {
  const std::string run = fs::absolute(run_dir / "records.jsonl").parent_path().filename();
  const fs::path plots = source_dir / "plots";
  const std::string library = drawing_library(source_dir);
  const std::vector<Summary> summaries = summarise(records);

  json page = {{"title", run}, {"sections", json::array()}, {"note", ""}};
  json figures = {{"specs", json::object()}, {"images", json::object()}};
  for (const Summary& summary : summaries) {
    const std::string key = fmt::format("{}-{}", summary.scale, summary.device);
    const std::string prefix = summaries.size() > 1 ? key + "-" : "";
    std::vector<std::string> names;
    for (const Figure& figure : figures_of(summary, run, source_dir)) {
      names.push_back(figure.name);
      if (library.empty()) continue;
      json& spec = figures["specs"][prefix + figure.name] = figure.spec;
      shorten_numbers(spec);
    }
    if (library.empty()) {
      const std::string suffix = &summary == &summaries.front() ? "" : "-" + key;
      const json images = pictures(run_dir, names, suffix);
      std::erase_if(names, [&](const std::string& name) { return !images.contains(name); });
      for (const auto& [name, image] : images.items()) figures["images"][prefix + name] = image;
    }
    for (json& section : summary_sections(summary, names, prefix, summaries.size() > 1 ? key : ""))
      page["sections"].push_back(std::move(section));
  }
  const std::string raw = read_text(run_dir / "records.jsonl");
  for (json& section : common_sections(records, left_out, raw))
    page["sections"].push_back(std::move(section));
  if (library.empty())
    page["note"] = fmt::format(
        "Figures can't be asked for values here, because the plot renderer is missing: "
        "run ./run_matrix once without --no-install, then `./run_matrix report {}`.",
        run_dir.string());
  else
    for (const char* theme : {"light", "dark"})
      figures[theme] = json::parse(read_text(plots / (std::string(theme) + ".json")));

  write_text(run_dir / "report.html",
             filled(read_text(plots / "report.html"),
                    {{"style", read_text(plots / "report.css")},
                     {"script", read_text(plots / "report.js")},
                     {"licences", read_text(plots / "licences.txt")},
                     {"page", json_for_html(page)},
                     {"figures", gzip_base64(figures.dump(-1, ' ', false, json::error_handler_t::replace),
                                             Content::text)},
                     {"library", library.empty() ? "" : gzip_base64(library, Content::text)},
                     {"records", gzip_base64(raw, Content::times)}},
                    (plots / "report.html").string()));
  console << "report: " << (run_dir / "report.html").string() << '\n';
}

}  // namespace harness

// Compresses figures, library and records, and fills them into the HTML template.
#include "harness/report/page_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "harness/base/child_process.h"
#include "harness/base/json_text.h"
#include "harness/report/embedding.h"
#include "harness/report/table.h"

namespace harness {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// Rounds to six digits, which is enough to draw. Full length would double the size of the figures' data.
void shorten_numbers(json& value) {
  if (value.is_number_float())
    value = std::stod(fmt::format("{:.6g}", value.get<double>()));
  else if (value.is_structured())
    for (json& child : value) shorten_numbers(child);
}

std::string figures_text(PageFile& page, const fs::path& plots) {
  shorten_numbers(page.specs);
  shorten_numbers(page.data);
  json figures = {
      {"specs", std::move(page.specs)}, {"data", std::move(page.data)}, {"images", std::move(page.images)}};
  if (!page.library.empty())
    for (const char* theme : {"light", "dark"})
      figures[theme] = base::require_json(read_text(plots / (std::string(theme) + ".json")));
  return figures.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The page redistributes the library and must therefore include its licence.
std::string licence_of_library(const fs::path& source_dir) {
  std::error_code missing;
  for (const auto& entry : fs::recursive_directory_iterator(source_dir / ".venv/lib", missing))
    if (entry.path().filename() == "LICENSE" &&
        entry.path().string().find("/vl_convert_python-") != std::string::npos)
      return read_text(entry.path());
  return "not found in .venv";
}

}  // namespace

std::string read_text(const fs::path& file) {
  std::ifstream input(file, std::ios::binary);
  std::ostringstream text;
  text << input.rdbuf();
  if (!input)
    throw std::runtime_error(
        fmt::format("{}: can't be read: {}; restore the file", file.string(), std::strerror(errno)));
  return text.str();
}

json section(const std::string& title, json blocks, const std::string& prefix, const std::string& part) {
  std::string id = prefix + title;
  std::replace_if(
      id.begin(), id.end(), [](char c) { return c == ' ' || c == '\''; }, '-');
  return {{"id", id}, {"title", title}, {"part", part}, {"blocks", std::move(blocks)}};
}

void add_grid(json& blocks, const Grid& grid) {
  if (!grid.empty()) blocks.push_back({{"grid", grid_json(grid)}});
}

json fold(const std::string& title, json blocks) { return {{"fold", {title, std::move(blocks)}}}; }

std::string drawing_library(const fs::path& source_dir) {
  const fs::path python = source_dir / ".venv/bin/python";
  if (!fs::exists(python)) return "";
  base::Command command;
  command.arguments = {python, source_dir / "plots/bundle.py"};
  const base::Finished finished = base::run_to_end(command, /*interrupts_to_end=*/2);
  return finished.exit_code == 0 ? finished.output : "";
}

void write_page_file(const fs::path& file, PageFile page, const fs::path& source_dir) {
  const fs::path plots = source_dir / "plots";
  const std::string library = page.library.empty() ? "" : gzip_base64(page.library, Content::text);
  write_text(file, filled(read_text(plots / "report.html"),
                          {{"style", read_text(plots / "report.css")},
                           {"script", read_text(plots / "report.js")},
                           {"licence", page.library.empty() ? "" : licence_of_library(source_dir)},
                           {"without_script", page.without_script},
                           {"page", json_for_html(page.page)},
                           {"figures", gzip_base64(figures_text(page, plots), Content::text)},
                           {"library", library},
                           {"records", gzip_base64(page.records, Content::times)}},
                          (plots / "report.html").string()));
}

}  // namespace harness

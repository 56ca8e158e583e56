// Builds one HTML file from plots/report.html, .css and .js, content, figures and their drawing library,
// embedded so that no content can end the element that contains it.
#pragma once
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/grid.h"

namespace harness {

std::string base64(const std::string& bytes);

// For a <script type="application/json">. `<` is escaped, so that the text contains neither </script> nor a
// comment; bytes that are not UTF-8 are replaced.
std::string json_for_html(const nlohmann::json& data);

// Replaces each `{{NAME}}` by parts.at(NAME); `{{` inside a part is left alone. Throws std::runtime_error
// with the file's `name` for an unknown NAME.
std::string filled(const std::string& page_template, const std::map<std::string, std::string>& parts,
                   const std::string& name);

// The parts of a page, whose blocks plots/report.js lists. A grid or fold without lines adds nothing.
nlohmann::json section(const std::string& title, nlohmann::json blocks, const std::string& prefix = "",
                       const std::string& part = "");
void add_grid(nlohmann::json& blocks, const Grid& grid);
nlohmann::json fold(const std::string& title, nlohmann::json blocks);  // opened with a click

struct PageFile {
  // For report.js. `note`: what the page lacks without the library.
  nlohmann::json page = {{"title", ""}, {"sections", nlohmann::json::array()}, {"note", ""}};
  nlohmann::json specs = nlohmann::json::object();   // {figure: Vega-Lite spec}
  nlohmann::json data = nlohmann::json::object();    // {name: data that several specs use}
  nlohmann::json images = nlohmann::json::object();  // {figure: SVG in base64}, used without the library
  std::string library;                               // Vega, Vega-Lite and vega-embed as one script
  std::string records;                               // offered for download unchanged
  std::string without_script;                        // where a reader without JavaScript finds the content
};

// Runs plots/SCRIPT with the Python of source_dir/.venv; returns what it printed. Nothing where there is no
// such Python, or the script failed, which is said. Throws std::runtime_error where it can't be started.
std::optional<std::string> run_plot_script(const std::filesystem::path& source_dir, const std::string& script,
                                           const std::vector<std::string>& arguments = {});

// Where the renderer in source_dir/.venv is missing or fails, the page notes what it `lacks`, e.g. "No
// charts".
void add_drawing_library(PageFile& page, const std::filesystem::path& source_dir, const std::string& lacks);

// Throws std::runtime_error when a part is missing or the file can't be written.
void write_page_file(const std::filesystem::path& file, PageFile page,
                     const std::filesystem::path& source_dir);

}  // namespace harness

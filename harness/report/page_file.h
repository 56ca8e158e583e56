// One HTML file of plots/report.html, report.css and report.js: content, figures and the library that draws
// them.
#pragma once
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

namespace harness {

// Vega, Vega-Lite and vega-embed as one script; empty where the renderer in source_dir/.venv is missing.
std::string drawing_library(const std::filesystem::path& source_dir);

// Throws std::runtime_error naming the file when it can't be read.
std::string read_text(const std::filesystem::path& file);

struct PageFile {
  nlohmann::json page;                               // {title, sections, note} for report.js
  nlohmann::json specs = nlohmann::json::object();   // Vega-Lite by the figure's name
  nlohmann::json data = nlohmann::json::object();    // named data that several specs use
  nlohmann::json images = nlohmann::json::object();  // SVG in base64 by name, where there is no library
  std::string library;                               // drawing_library()
  std::string records;                               // for download, byte by byte
  std::string without_script;                        // what a reader without JavaScript is told
};

// Throws std::runtime_error when a part is missing or the file can't be written.
void write_page_file(const std::filesystem::path& file, PageFile page,
                     const std::filesystem::path& source_dir);

}  // namespace harness

// Compresses figures, library and records with zlib, and fills them into the HTML template; base64 comes from
// yaml-cpp, which is linked anyway to read the matrices.
#include "harness/report/page_file.h"

#include <fmt/format.h>
#include <yaml-cpp/binary.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/base/say.h"
#include "harness/report/table.h"

namespace harness {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kGzip = 16 + MAX_WBITS;

enum class Content { text, times };  // times: mostly digits with few repetitions

std::string gzip(const std::string& bytes, Content content) {
  // Z_FILTERED avoids short matches, which cost more than they save in the digits of times. Memory level 5
  // makes small blocks, so that each phase gets a code for its digits. Together they save 7 % of a run.
  const bool times = content == Content::times;
  if (bytes.size() > std::numeric_limits<uInt>::max())
    throw std::runtime_error(fmt::format(
        "a page holds at most 4 GiB of records or figures, not {} bytes: tables and records.jsonl "
        "have all of them",
        bytes.size()));
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, times ? 5 : 9,
                   times ? Z_FILTERED : Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib can't compress the page's data: out of memory");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END)
    throw std::runtime_error(fmt::format("zlib can't compress the page's data: error {}", result));
  return packed;
}

// For a browser's DecompressionStream("gzip").
std::string gzip_base64(const std::string& bytes, Content content) { return base64(gzip(bytes, content)); }

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
      figures[theme] = base::require_json(base::read_file(plots / (std::string(theme) + ".json")));
  return figures.dump(-1, ' ', false, json::error_handler_t::replace);
}

// The page redistributes the library and must therefore include its licence.
std::string licence_of_library(const fs::path& source_dir) {
  std::error_code missing;
  for (const auto& entry : fs::recursive_directory_iterator(source_dir / ".venv/lib", missing))
    if (entry.path().filename() == "LICENSE" &&
        entry.path().string().find("/vl_convert_python-") != std::string::npos)
      return base::read_file(entry.path());
  return "not found in .venv";
}

}  // namespace

std::string base64(const std::string& bytes) {
  return YAML::EncodeBase64(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string json_for_html(const nlohmann::json& data) {
  std::string text;
  for (char c : data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

std::string filled(const std::string& page_template, const std::map<std::string, std::string>& parts,
                   const std::string& name) {
  std::string page;
  size_t begin = 0;
  for (size_t open; (open = page_template.find("{{", begin)) != std::string::npos;) {
    const size_t close = page_template.find("}}", open);
    const std::string part = page_template.substr(open + 2, close - open - 2);
    if (close == std::string::npos || !parts.count(part))
      throw std::runtime_error(name + ": unknown part {{" + part + "}}; restore it from the repository");
    page += page_template.substr(begin, open - begin) + parts.at(part);
    begin = close + 2;
  }
  return page + page_template.substr(begin);
}

json section(const std::string& title, json blocks, const std::string& prefix, const std::string& part) {
  std::string id = prefix + title;
  std::ranges::replace_if(
      id, [](char c) { return c == ' ' || c == '\''; }, '-');
  return {{"id", id}, {"title", title}, {"part", part}, {"blocks", std::move(blocks)}};
}

void add_grid(json& blocks, const Grid& grid) {
  if (!grid.empty()) blocks.push_back({{"grid", grid_json(grid)}});
}

json fold(const std::string& title, json blocks) { return {{"fold", {title, std::move(blocks)}}}; }

std::optional<std::string> run_plot_script(const fs::path& source_dir, const std::string& script,
                                           const std::vector<std::string>& arguments) {
  const fs::path python = source_dir / ".venv/bin/python";
  if (!fs::exists(python)) return std::nullopt;  // an unpacked bundle may have none
  const fs::path program = source_dir / "plots" / script;
  base::Command command;
  command.arguments = {python, program};
  command.arguments.insert(command.arguments.end(), arguments.begin(), arguments.end());
  base::Finished finished = base::run_to_end(command, /*interrupts_to_end=*/2);
  if (finished.exit_code == 0) return std::move(finished.output);
  base::say("{} {} {}\n", python.string(), program.string(), base::ended_in_words(finished.exit_code));
  return std::nullopt;
}

void add_drawing_library(PageFile& page, const fs::path& source_dir, const std::string& lacks) {
  page.library = run_plot_script(source_dir, "bundle.py").value_or("");
  if (page.library.empty())
    page.page["note"] = lacks +
                        ", because the plot renderer is missing or failed: run ./run_matrix once without "
                        "--no-install, then the same command again.";
}

void write_page_file(const fs::path& file, PageFile page, const fs::path& source_dir) {
  const fs::path plots = source_dir / "plots";
  const std::string library = page.library.empty() ? "" : gzip_base64(page.library, Content::text);
  write_text(file, filled(base::read_file(plots / "report.html"),
                          {{"style", base::read_file(plots / "report.css")},
                           {"script", base::read_file(plots / "report.js")},
                           {"licence", page.library.empty() ? "" : licence_of_library(source_dir)},
                           {"without_script", page.without_script},
                           {"page", json_for_html(page.page)},
                           {"figures", gzip_base64(figures_text(page, plots), Content::text)},
                           {"library", library},
                           {"records", gzip_base64(page.records, Content::times)}},
                          (plots / "report.html").string()));
}

}  // namespace harness

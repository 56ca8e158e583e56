// Plain text tables; each column is as wide as its widest cell.
#include "harness/plan/listing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace harness {
namespace {

using Cells = std::vector<std::string>;

std::string columns(const std::vector<Cells>& lines) {
  std::vector<size_t> widths;
  for (const Cells& cells : lines)
    for (size_t i = 0; i < cells.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], cells[i].size());
    }
  std::string text;
  for (const Cells& cells : lines) {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) line += fmt::format("{:<{}}  ", cells[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string devices_of(const Row& row) {
  return row.nodes > 1 ? fmt::format("{} x {}", row.nodes, row.devices) : std::to_string(row.devices);
}

// Which launcher starts the nodes is not known here; on one machine no link is InfiniBand.
std::string link_of(const Row& row) {
  const std::string rate = row.link_rate_mbit > 0 ? fmt::format(" {:g} Mbit/s", row.link_rate_mbit) : "";
  return row.link +
         (row.nodes > 1 ? rate + " (on one machine emulated" + (rate.empty() ? ", unshaped)" : ")") : rate);
}

std::string strategy_of(const Row& row) {
  return row.strategy + (row.sync_bn ? " + sync_bn" : "") +
         (row.backend == "none" ? "" : " / " + row.backend) +
         (row.link == "none" ? "" : " / " + link_of(row));
}

std::string storage_of(const Row& row) {
  return row.storage + (row.order == "in_order" ? " in order" : "") + (row.cache == "cold" ? ", cold" : "");
}

std::string published_of(const Row& row) {
  if (row.published_s <= 0) return row.published_note.empty() ? "-" : row.published_note;
  return fmt::format("{} s{}", row.published_s, row.published_note.empty() ? "" : "; " + row.published_note);
}

std::string threads_of(const Row& row) { return fmt::format("{}/{}", row.loader_threads, row.cpus); }

std::string type_of(const Field& field) {
  if (field.in_c0) return "count or `N C0`";
  if (field.is_number()) return field.type->kind == Kind::integer ? "whole number" : "number";
  return field.type->kind == Kind::text ? "text" : "true or false";
}

std::string range_of(const Field& field) {
  if (field.axis) return "list --values";
  if (!field.choices.empty()) return fmt::format("{}", fmt::join(field.choices, " | "));
  if (!field.is_number()) return "";
  return fmt::format("{}{} to {}", field.least > 0 ? "0, " : "", limits_of(field).min, field.max);
}

}  // namespace

std::string list_rows(const std::vector<Row>& rows, const Scale& scale) {
  std::vector<Cells> lines = {{"row", "what it is", "batch", "devices", "storage", "strategy", "precision",
                               "threads/cpus", "window", "article, s per 300 batches"}};
  for (const Row& row : rows)
    lines.push_back({row.id, row.title, std::to_string(row.batch), devices_of(row), storage_of(row),
                     strategy_of(row), row.precision, threads_of(row), row.window, published_of(row)});
  return fmt::format("scale {}: {}\n\n{}", scale.name, scale.summary, columns(lines));
}

std::string list_rows_as_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) list.push_back(to_json(row));
  return list.dump(2) + "\n";
}

static std::vector<Cells> table_of_fields() {
  std::vector<Cells> lines = {{"field", "type", "unit", "range", "meaning"}};
  for (const Field& field : fields())
    lines.push_back({field.name, type_of(field), field.unit, range_of(field), field.help});
  return lines;
}

std::string list_fields() { return columns(table_of_fields()); }

std::string list_fields_as_json() {
  const std::vector<Cells> table = table_of_fields();
  nlohmann::json list(table.size() - 1, nlohmann::json::object());
  for (size_t line = 1; line < table.size(); ++line)
    for (size_t i = 0; i < table[line].size(); ++i) list[line - 1][table[0][i]] = table[line][i];
  return list.dump(2) + "\n";
}

std::string list_values(const AxisValues& values) {
  if (values.empty()) return "train_slice is not built, so the values are unknown; ./run_matrix builds it\n";
  std::string text;
  for (const auto& [axis, entries] : values) {
    if (!find_field(axis)) continue;  // not an axis of rows
    std::vector<Cells> lines;
    for (const AxisValue& value : entries)
      lines.push_back({"  " + value.name,
                       value.summary + (value.missing.empty() ? "" : " [missing: " + value.missing + "]")});
    text += axis + "\n" + columns(lines);
  }
  return text;
}

}  // namespace harness

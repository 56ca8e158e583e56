// Reads the section `tables:` of a matrix.
#include "harness/config/tables.h"

#include <fmt/format.h>

#include "harness/config/nearest.h"
#include "harness/contract/phases.h"

namespace harness {
namespace {

using Names = std::vector<std::string>;

Names known(const Entry& entry, const char* what, const Names& names) {
  const Names found = words(entry);
  if (names.empty()) return found;
  for (const std::string& word : found)
    require_known(entry.origin, fmt::format("{} under {}", what, in_quotes(entry.key)), word, names);
  return found;
}

// The entries of a mapping; anything else is the value of `key` alone.
std::vector<Entry> parts_of(const Entry& entry, const char* key, const Names& allowed) {
  if (!entry.value.IsMap()) return {{key, entry.value, entry.origin}};
  return entries(entry, allowed);
}

TableColumn column_of(const Entry& entry) {
  TableColumn column{.header = entry.key, .origin = entry.origin};
  for (const Entry& part : parts_of(entry, "of", {"of", "unit", "optional"}))
    if (part.key == "of")
      column.of = part.value.IsSequence() ? known(part, "phase", {kPhaseNames.begin(), kPhaseNames.end()})
                                          : Names{scalar(part)};
    else if (part.key == "unit")
      column.unit = scalar(part);
    else
      column.optional = known(part, "value", {"true", "false"}) == Names{"true"};
  return column;
}

TableNote note_of(const Entry& entry, const Names& ids) {
  TableNote note{.origin = entry.origin};
  for (const Entry& part : parts_of(entry, "text", {"text", "of", "rows"}))
    if (part.key == "rows")
      note.rows = known(part, "row", ids);
    else
      (part.key == "of" ? note.of : note.text) = scalar(part);
  return note;
}

MatrixTable table_of(const Entry& entry, const Names& ids) {
  MatrixTable table{.title = entry.key};
  for (const Entry& part : entries(entry, {"layout", "rows", "about", "equal", "columns", "notes"})) {
    if (part.key == "layout") known(part, "layout", kTableLayouts), table.layout = scalar(part);
    if (part.key == "rows") table.rows = known(part, "row", ids);
    if (part.key == "about") table.about = known(part, "row", ids);
    if (part.key == "equal") table.equal = known(part, "row", ids);
    if (part.key == "columns")
      for (const Entry& column : entries(part)) table.columns.push_back(column_of(column));
    if (part.key != "notes") continue;
    if (!part.value.IsSequence())
      throw ConfigError(part.origin, "wrong type of 'notes'", "a list of texts", "no list");
    for (const YAML::Node& note : part.value)
      table.notes.push_back(note_of({part.key, note, {part.origin.file, note.Mark().line + 1}}, ids));
  }
  if (table.layout != "accuracy" && (table.rows.empty() || table.columns.empty()))
    throw ConfigError(entry.origin, "table without content", "`rows` and `columns`", in_quotes(entry.key));
  if (table.about.empty()) table.about = table.rows;
  return table;
}

}  // namespace

std::vector<MatrixTable> read_tables(const Entry& section, const Names& ids) {
  std::vector<MatrixTable> tables;
  for (const Entry& entry : entries(section)) tables.push_back(table_of(entry, ids));
  return tables;
}

}  // namespace harness

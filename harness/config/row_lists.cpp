// Expands lists to all combinations, builds an id for each, and marks those that a condition skips.
#include "harness/config/row_lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>

namespace harness {
namespace {

// Fields that vary together, and their values, by position.
struct Axis {
  std::vector<std::string> fields;
  std::vector<std::vector<std::string>> values;  // [position][field]
  Origin origin;
};

std::vector<std::string> list_of(const Entry& entry) {
  if (!entry.value.IsSequence())
    throw ConfigError(entry.origin, fmt::format("{} under zip", in_quotes(entry.key)), "a list of values",
                      "no list");
  std::vector<std::string> values = words(entry);
  if (values.empty())
    throw ConfigError(entry.origin, fmt::format("the list of {} is empty", in_quotes(entry.key)),
                      "at least one value");
  return values;
}

Axis axis_of(const Entry& entry) {
  Axis axis{{entry.key}, {}, entry.origin};
  for (const std::string& value : list_of(entry)) axis.values.push_back({value});
  return axis;
}

Axis zipped(const Entry& zip) {
  Axis axis{{}, {}, zip.origin};
  for (const Entry& entry : entries(zip, field_names())) {
    const std::vector<std::string> values = list_of(entry);
    if (axis.fields.empty()) axis.values.resize(values.size());
    if (values.size() != axis.values.size())
      throw ConfigError(entry.origin, "lists under zip vary together",
                        fmt::format("{} values", axis.values.size()),
                        fmt::format("{} of {}", values.size(), in_quotes(entry.key)));
    axis.fields.push_back(entry.key);
    for (size_t i = 0; i < values.size(); ++i) axis.values[i].push_back(values[i]);
  }
  if (axis.fields.empty())
    throw ConfigError(zip.origin, "zip is empty", "fields with lists that vary together", "none");
  return axis;
}

std::string id_part(const std::string& value) {
  std::string part;
  for (const unsigned char c : value)
    if (std::isalnum(c) || c == '.' || c == '_' || c == '-') part += char(c);
  return part;
}

// Sets `skip` where all fields of a condition have its values.
void apply_skips(const Entry& skip, std::vector<Combination>& all) {
  for (const YAML::Node& node : skip.value) {
    const Entry condition{skip.key, node, skip.origin};
    std::vector<std::string> allowed = field_names();
    allowed.push_back("reason");
    std::string reason;
    Settings wanted;
    for (const Entry& entry : entries(condition, allowed)) {
      if (entry.key == "reason")
        reason = scalar(entry);
      else
        wanted[entry.key] = {scalar(entry), entry.origin};
    }
    if (reason.empty() || wanted.empty())
      throw ConfigError(skip.origin, "skip leaves out combinations", "fields of the lists, and a reason",
                        reason.empty() ? "no reason" : "no field");
    bool any = false;
    for (Combination& one : all) {
      const bool matches = std::ranges::all_of(wanted, [&](const auto& pair) {
        const auto has = one.settings.find(pair.first);
        return has != one.settings.end() && has->second.text == pair.second.text;
      });
      if (matches) one.settings["skip"] = {reason, skip.origin};
      any = any || matches;
    }
    if (!any)
      throw ConfigError(skip.origin, "skip names a combination that doesn't exist", "values of the lists");
  }
}

// A field with two values would keep the last of them, and the title would name another. `as_run` replaces a
// value, and no list.
void check_named_once(const Entry& row, const std::vector<Entry>& all) {
  std::set<std::string> listed;
  const auto check = [&](const Entry& entry, bool is_new) {
    if (!is_new)
      throw ConfigError(entry.origin, fmt::format("row {} names a field twice", in_quotes(row.key)),
                        "one value, one list, or a list under zip", in_quotes(entry.key), "leave one out");
  };
  for (const Entry& entry : all)
    if (entry.key == "zip")
      for (const Entry& part : entries(entry)) check(part, listed.insert(part.key).second);
    else if (is_row_list(entry))
      check(entry, listed.insert(entry.key).second);
  for (const Entry& entry : all)
    if (entry.key == "as_run")
      for (const Entry& part : entries(entry)) check(part, !listed.count(part.key));
    else if (!is_row_list(entry))
      check(entry, !listed.count(entry.key));
}

}  // namespace

bool is_row_list(const Entry& entry) {
  return entry.key == "zip" || (entry.value.IsSequence() && entry.key != "inferred");
}

std::vector<Combination> combinations_of(const Entry& row) {
  std::vector<Axis> axes;
  const Entry* skip = nullptr;
  const std::vector<Entry> all_entries = entries(row);
  for (const Entry& entry : all_entries) {
    if (!is_row_list(entry)) continue;
    if (entry.key == "skip")
      skip = &entry;
    else
      axes.push_back(entry.key == "zip" ? zipped(entry) : axis_of(entry));
  }
  if (!axes.empty()) check_named_once(row, all_entries);
  std::vector<Combination> all = {{row.key, "", {}}};
  for (const Axis& axis : axes) {
    std::vector<Combination> longer;
    for (const Combination& one : all)
      for (const std::vector<std::string>& values : axis.values) {
        Combination next = one;
        for (size_t i = 0; i < axis.fields.size(); ++i) {
          next.id += "-" + id_part(values[i]);
          next.title += fmt::format("{}{} {}", next.title.empty() ? "" : ", ", axis.fields[i], values[i]);
          next.settings[axis.fields[i]] = {values[i], axis.origin};
        }
        longer.push_back(std::move(next));
        if (longer.size() > kMostRows)
          throw ConfigError(row.origin, fmt::format("row {} stands for too many rows", in_quotes(row.key)),
                            fmt::format("at most {} combinations", kMostRows), "more");
      }
    all = std::move(longer);
  }
  if (skip) apply_skips(*skip, all);
  std::set<std::string> ids;
  for (const Combination& one : all)
    if (!ids.insert(one.id).second)
      throw ConfigError(row.origin, "two combinations have the same id",
                        "values that differ in letters and digits", in_quotes(one.id));
  return all;
}

}  // namespace harness

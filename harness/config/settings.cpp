// Parses the values of all fields with the field table.
#include "harness/config/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/base/number.h"
#include "harness/config/nearest.h"
#include "harness/config/row_lists.h"

namespace harness {
namespace {

// Parses `3 C0`, `1.5 C0`; std::nullopt for any other form.
std::optional<int64_t> parse_multiple_of_c0(const std::string& text, int64_t c0) {
  constexpr double most = 4096;
  if (text.size() < 3 || text.compare(text.size() - 2, 2, "C0") != 0) return std::nullopt;
  std::string factor = text.substr(0, text.size() - 2);
  factor.erase(factor.find_last_not_of(' ') + 1);
  const std::optional<double> multiple = base::number_of<double>(factor);
  if (!multiple || !(*multiple > 0 && *multiple <= most)) return std::nullopt;
  return std::max<int64_t>(1, std::llround(*multiple * static_cast<double>(c0)));
}

struct Assignment {
  Row& row;
  const Field& field;
  const Setting& setting;
  int64_t c0;
  const AxisValues& values;

  [[noreturn]] void refuse(const std::string& expected, const std::string& next_step = "") const {
    throw ConfigError(setting.origin, "wrong value of " + in_quotes(field.name), expected,
                      setting.text.empty() ? "nothing" : in_quotes(setting.text), next_step);
  }
  template <class Number>
  void set(Number& member, const std::optional<Number>& value, const char* kind) const {
    const FigureLimits limits = limits_of(field);
    if (!value || !limits.hold(double(*value))) refuse(fmt::format("{} {}", kind, described(limits)));
    member = *value;
  }
  void set_count(int64_t& member) const {
    std::optional<int64_t> value = parse_multiple_of_c0(setting.text, c0);
    if (!value) value = base::number_of<int64_t>(setting.text);
    if (!value) refuse("a whole number or a multiple of C0 such as `1.5 C0`");
    set(member, value, "a count");
  }
  void set_text(std::string& member) const {
    std::vector<std::string> known = field.choices;
    if (field.axis)
      if (const auto axis = values.find(field.axis); axis != values.end())
        for (const AxisValue& value : axis->second) known.push_back(value.name);
    if (!known.empty() && std::ranges::find(known, setting.text) == known.end())
      throw ConfigError(setting.origin, fmt::format("unknown value of '{}'", field.name),
                        fmt::format("one of {}", fmt::join(known, ", ")), in_quotes(setting.text),
                        nearest(setting.text, known).empty() ? "see `./run_matrix list --values`"
                                                             : suggestion(setting.text, known));
    if (field.axis && setting.text.empty()) refuse("a name", "see `./run_matrix list --values`");
    if (field.problem)
      if (const std::string expected = field.problem(setting.text); !expected.empty()) refuse(expected);
    member = setting.text;
  }
  void make() const {
    if (auto* text = field.find_in<std::string>(&row)) return set_text(*text);
    if (auto* number = field.find_in<double>(&row))
      return set(*number, base::number_of<double>(setting.text), "a number");
    if (auto* count = field.find_in<int64_t>(&row))
      return field.in_c0 ? set_count(*count)
                         : set(*count, base::number_of<int64_t>(setting.text), "a whole number");
    if (setting.text != "true" && setting.text != "false") refuse("true or false");
    *field.find_in<bool>(&row) = setting.text == "true";
  }
};

const Field& known_field(const std::string& name, const Origin& origin) {
  require_known(origin, "field", name, field_names());
  return *find_field(name);
}

}  // namespace

FigureLimits limits_of(const Field& field) {
  return {field.least > 0 ? field.least : field.min, field.max, field.unit, field.least > 0};
}

std::vector<std::string> field_names() {
  std::vector<std::string> names;
  for (const Field& field : fields())
    if (std::string(field.name) != "id") names.push_back(field.name);  // a row's id is its key
  return names;
}

Settings read_settings(const Entry& mapping, const std::vector<std::string>& also, Lists lists) {
  std::vector<std::string> allowed = field_names();
  allowed.insert(allowed.end(), also.begin(), also.end());
  Settings settings;
  for (const Entry& entry : entries(mapping, allowed)) {
    if (std::ranges::find(also, entry.key) != also.end()) continue;
    if (lists == Lists::left_out && is_row_list(entry)) continue;
    if (entry.key != "inferred") {
      settings[entry.key] = {scalar(entry), entry.origin};
      continue;
    }
    std::vector<std::string> names = words(entry);
    for (const std::string& name : names) known_field(name, entry.origin);
    settings[entry.key] = {fmt::format("{}", fmt::join(names, ",")), entry.origin};
  }
  return settings;
}

std::pair<std::string, Setting> read_assignment(const std::string& text) {
  Origin origin{"--set " + text};
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    throw ConfigError(origin, "not an assignment", "key=value", in_quotes(text), "e.g. --set batch=48");
  if (!is_plain_text(text)) throw ConfigError({"--set"}, "control character", "plain text", in_quotes(text));
  std::string name = text.substr(0, equals);
  if (has_role(name, Role::descriptive))
    throw ConfigError(origin, in_quotes(name) + " describes the row, and --set can't change it", "", "",
                      "set it in the matrix file");
  known_field(name, origin);
  return {name, {text.substr(equals + 1), origin}};
}

void assign(Row& row, const std::string& field, const Setting& setting, int64_t c0,
            const AxisValues& values) {
  Assignment{row, known_field(field, setting.origin), setting, c0, values}.make();
}

const AxisValue* find_value(const AxisValues& values, const std::string& axis, const std::string& name) {
  if (const auto known = values.find(axis); known != values.end())
    for (const AxisValue& value : known->second)
      if (value.name == name) return &value;
  return nullptr;
}

bool available(const AxisValues& values, const std::string& axis, const std::string& name) {
  const AxisValue* value = find_value(values, axis, name);
  return value && value->missing.empty();
}

}  // namespace harness

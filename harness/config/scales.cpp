// Reads configs/scales.yaml.
#include "harness/config/scales.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/base/process_limits.h"
#include "harness/config/nearest.h"

namespace harness {
namespace {

When read_condition(const Entry& entry) {
  size_t equals = entry.key.find('=');
  if (equals == std::string::npos)
    throw ConfigError(entry.origin, "not a condition", "field=value", in_quotes(entry.key),
                      "e.g. link=ethernet");
  When when{entry.key.substr(0, equals), entry.key.substr(equals + 1), read_settings(entry)};
  Row probe;
  assign(probe, when.field, {when.value, entry.origin}, 1, {});
  return when;
}

Scale read_scale(const Entry& entry) {
  Scale scale;
  scale.name = entry.key;
  std::vector<std::string> missing = {"batch_divisor", "c0", "images", "summary", "reasoning"};
  for (const Entry& part : entries(entry, {"batch_divisor", "c0", "images", "runs", "attempts", "rounds",
                                           "slowest_time_scale", "summary", "reasoning", "set", "when"})) {
    std::erase(missing, part.key);
    if (part.key == "batch_divisor") scale.batch_divisor = whole_number(part, 1, 1 << 20);
    if (part.key == "c0")
      scale.c0 = scalar(part) == "cores" ? base::process_limits().cores : whole_number(part, 1, 65536);
    if (part.key == "images") scale.images = whole_number(part, 1, 1 << 30);
    if (part.key == "runs") scale.most_runs = whole_number(part, 1, 1000);
    if (part.key == "attempts") scale.most_attempts = whole_number(part, 1, 100);
    if (part.key == "rounds") scale.most_rounds = whole_number(part, 1, 1000);
    if (part.key == "slowest_time_scale") scale.slowest_time_scale = whole_number(part, 1, 1 << 20);
    if (part.key == "summary") scale.summary = scalar(part);
    if (part.key == "reasoning") scale.reasoning = scalar(part);
    if (part.key == "set") scale.set = read_settings(part);
    if (part.key == "when")
      for (const Entry& condition : entries(part)) scale.when.push_back(read_condition(condition));
  }
  if (!missing.empty())
    throw ConfigError(entry.origin, "missing key in " + in_quotes(entry.key), in_quotes(missing[0]), "",
                      "add it");
  return scale;
}

}  // namespace

std::vector<Scale> load_scales(const std::filesystem::path& file) {
  std::vector<Scale> scales;
  for (const Entry& entry : read_yaml(file)) {
    scales.push_back(read_scale(entry));
    // Check all values now, not only when a row uses them.
    Row probe;
    auto check = [&](const Settings& settings) {
      for (const auto& [field, setting] : settings) assign(probe, field, setting, scales.back().c0, {});
    };
    check(scales.back().set);
    for (const When& when : scales.back().when) check(when.set);
  }
  return scales;
}

const Scale& find_scale(const std::vector<Scale>& scales, const std::string& name) {
  if (const auto found = std::ranges::find(scales, name, &Scale::name); found != scales.end()) return *found;
  std::vector<std::string> names = {"auto"};
  for (const Scale& scale : scales)  // all but those that only the commands of the same names take
    if (scale.name != "feed" && scale.name != "machine") names.push_back(scale.name);
  throw ConfigError({"--scale " + name}, "unknown scale", "", in_quotes(name), suggestion(name, names));
}

int64_t batch_divisor_of(const Row& row, const Scale& scale) {
  const bool own = std::ranges::find(row.as_run, "batch") != row.as_run.end();
  return own ? 1 : scale.batch_divisor;
}

void apply(const Scale& scale, Row& row, const AxisValues& values) {
  const auto set = [&](const Settings& settings) {
    for (const auto& [field, setting] : settings)
      if (std::ranges::find(row.as_run, field) == row.as_run.end())
        assign(row, field, setting, scale.c0, values);
  };
  set(scale.set);
  for (const When& when : scale.when)
    if (field_text(row, when.field) == when.value) set(when.set);
}

RecordScale record_of(const Row& row, const Scale& scale) {
  return {scale.name, scale.summary, batch_divisor_of(row, scale), scale.c0, scale.decoded_images_per_s};
}

}  // namespace harness

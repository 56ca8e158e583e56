#include "harness/config/device_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/config/nearest.h"
#include "harness/config/yaml_file.h"

namespace harness {
namespace {

template <Keyed T>
std::vector<std::string> keys_of() {
  return std::apply([](const auto&... key) { return std::vector<std::string>{key.name...}; }, T::keys());
}

// By the unit that the key's name ends in.
FigureLimits limits_of(const std::string& key) {
  constexpr std::pair<const char*, FigureLimits> all[] = {{"_ms_per_image", {0, 1e4, "ms"}},
                                                          {"_ms", {0, 1e5, "ms"}},
                                                          {"_us", {0, 1e6, "us"}},
                                                          {"_gb_per_s", {1e-3, 1e6, "GB/s"}},
                                                          {"_gib", {1e-3, 1e6, "GiB", true}},
                                                          {"_per_link", {1, 1024, "devices"}},
                                                          {"", {0, 1e6}}};
  for (const auto& [ending, limits] : all)
    if (key.ends_with(ending)) return limits;
  return {};
}

SourcedFigure read_figure(const Entry& entry) {
  SourcedFigure figure;
  std::vector<std::string> missing = keys_of<SourcedFigure>();
  for (const Entry& part : entries(entry, missing)) {
    std::erase(missing, part.key);
    const std::string text = scalar(part);
    if (part.key == "source") {
      if (text.empty())
        throw ConfigError(part.origin, "no source", "where the figure is from, or why it is assumed");
      figure.source = text;
    }
    if (part.key == "provenance") {
      static const std::vector<std::string> kinds = {"stated", "measured", "published", "assumed"};
      if (std::find(kinds.begin(), kinds.end(), text) == kinds.end())
        throw ConfigError(part.origin, "no provenance", fmt::format("{}", fmt::join(kinds, ", ")),
                          in_quotes(text));
      figure.provenance = text;
    }
    if (part.key == "value")
      figure.value = number({entry.key, part.value, part.origin}, limits_of(entry.key));
  }
  if (!missing.empty())
    throw ConfigError(entry.origin, "missing key in " + in_quotes(entry.key), in_quotes(missing[0]), "",
                      "each figure has value, provenance and source");
  return figure;
}

template <Keyed T>
T read_struct(const std::vector<Entry>& parts, const Origin& origin);

template <class T>
void read_value(const Entry& entry, T& value) {
  if constexpr (std::is_same_v<T, SourcedFigure> || std::is_same_v<T, std::optional<SourcedFigure>>)
    value = read_figure(entry);
  else if constexpr (std::is_same_v<T, std::string>)
    value = scalar(entry);
  else if constexpr (std::is_same_v<T, std::optional<int64_t>>)
    value = whole_number(entry, 1, 1 << 20);
  else if constexpr (Keyed<T>)
    value = read_struct<T>(entries(entry, keys_of<T>()), entry.origin);
  else  // a map
    for (const Entry& one : entries(entry)) read_value(one, value[one.key]);
}

// A struct of the contract from the entries of a mapping, which allows keys_of<T>(): every required key must
// be there.
template <Keyed T>
T read_struct(const std::vector<Entry>& parts, const Origin& origin) {
  std::map<std::string, const Entry*> by_key;
  for (const Entry& part : parts) by_key[part.key] = &part;
  T made;
  const auto read = [&](const auto& key) {
    const auto found = by_key.find(key.name);
    if (found != by_key.end())
      read_value(*found->second, made.*key.member);
    else if (key.presence == Presence::required)
      throw ConfigError(origin, "missing key", fmt::format("{} ({})", in_quotes(key.name), key.help), "",
                        "add it");
  };
  std::apply([&](const auto&... key) { (read(key), ...); }, T::keys());
  return made;
}

}  // namespace

std::filesystem::path device_file(const std::filesystem::path& project, const std::string& name) {
  if (name.ends_with(".yaml")) return name;
  const std::filesystem::path folder = project / "configs" / "devices";
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem());
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    std::sort(names.begin(), names.end());
    throw ConfigError({"--device emulated:" + name}, "no such device file",
                      fmt::format("{}", fmt::join(names, ", ")), in_quotes(name), suggestion(name, names));
  }
  return folder / (name + ".yaml");
}

EmulatedDevice read_device_file(const std::filesystem::path& file) {
  auto device = read_struct<EmulatedDevice>(read_yaml(file, keys_of<EmulatedDevice>()), {file.string(), 1});
  if (device.name != file.stem().string())
    throw ConfigError({file.string(), 1}, "the name is not the file's", in_quotes(file.stem().string()),
                      in_quotes(device.name));
  return device;
}

void require_times(const EmulatedDevice& device, const std::filesystem::path& file, const Row& row) {
  std::string rule, expected, found, next_step = "add them, or leave the row out with --only";
  std::string key = "models", inner;  // whose line is named
  const auto require_size = [&](const char* name, const std::optional<int64_t>& size, int64_t of_row) {
    if (!size || *size == of_row) return;
    key = name;
    rule = fmt::format("the times are those of another {} than row {}'s", name, row.id);
    expected = fmt::format("{}: {}", name, *size);
    found = std::to_string(of_row);
    next_step = fmt::format("--set {}={}, or calibrate from rows of this size", name, *size);
  };
  const auto network = device.models.find(row.model);
  if (network == device.models.end()) {
    rule = fmt::format("no figures for model {}, which row {} asks for", row.model, row.id);
  } else if (!network->second.contains(row.precision)) {
    rule = fmt::format("no figures for precision {}, which row {} asks for", row.precision, row.id);
    inner = row.model;
  }
  if (rule.empty()) require_size("image_px", device.image_px, row.image_px);
  if (rule.empty()) require_size("width", device.width, row.width);
  if (rule.empty()) return;
  Origin origin;
  for (const Entry& part : read_yaml(file)) {
    if (part.key != key) continue;
    origin = part.origin;
    if (inner.empty()) continue;
    for (const Entry& one : entries(part))
      if (one.key == inner) origin = one.origin;
  }
  throw ConfigError(origin, rule, expected, found, next_step);
}

// A figure is one line, as in the shipped files.
static void write(YAML::Emitter& yaml, const SourcedFigure& figure) {
  yaml << YAML::Flow << YAML::BeginMap << YAML::Key << "value" << YAML::Value
       << fmt::format("{:.6g}", figure.value) << YAML::Key << "provenance" << YAML::Value << figure.provenance
       << YAML::Key << "source" << YAML::Value << YAML::DoubleQuoted << figure.source << YAML::EndMap;
}

static void write(YAML::Emitter& yaml, const std::string& text) { yaml << text; }
static void write(YAML::Emitter& yaml, int64_t number) { yaml << number; }

template <class T>
static void write(YAML::Emitter& yaml, const std::optional<T>& value) {
  write(yaml, *value);
}

template <Keyed T>
static void write(YAML::Emitter& yaml, const T& value);

template <class T>
static void write(YAML::Emitter& yaml, const std::map<std::string, T>& map) {
  yaml << YAML::BeginMap;
  for (const auto& [key, value] : map) {
    yaml << YAML::Key << key << YAML::Value;
    write(yaml, value);
  }
  yaml << YAML::EndMap;
}

template <Keyed T>
static void write(YAML::Emitter& yaml, const T& value) {
  yaml << YAML::BeginMap;
  const auto one = [&](const auto& key) {
    if constexpr (requires { (value.*key.member).has_value(); })
      if (!(value.*key.member)) return;
    yaml << YAML::Key << key.name << YAML::Value;
    write(yaml, value.*key.member);
  };
  std::apply([&](const auto&... key) { (one(key), ...); }, T::keys());
  yaml << YAML::EndMap;
}

std::string device_file_text(const EmulatedDevice& device) {
  YAML::Emitter yaml;
  write(yaml, device);
  return std::string(yaml.c_str()) + "\n";
}

}  // namespace harness

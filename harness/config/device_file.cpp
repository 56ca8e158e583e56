// Checks that every figure has a source and lies within the limits of its unit; also writes such files.
#include "harness/config/device_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/base/file.h"
#include "harness/config/nearest.h"
#include "harness/config/yaml_file.h"

namespace harness {
namespace {

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
  std::vector<std::string> missing = names_of_keys(kType<SourcedFigure>);
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
      if (std::ranges::find(kinds, text) == kinds.end())
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

void read(const Entry& entry, const ValueType& type, void* value);

// A struct of the contract from the entries of a mapping, which allows its keys: every required key must be
// there.
void read_struct(const std::vector<Entry>& parts, const Origin& origin, const ValueType& type, void* made) {
  std::map<std::string, const Entry*> by_key;
  for (const Entry& part : parts) by_key[part.key] = &part;
  for (const Key& key : type.keys()) {
    const auto found = by_key.find(key.name);
    if (found != by_key.end())
      read(*found->second, *key.type, key.in(made));
    else if (key.presence == Presence::required)
      throw ConfigError(origin, "missing key", fmt::format("{} ({})", in_quotes(key.name), key.help), "",
                        "add it");
  }
}

void read(const Entry& entry, const ValueType& type, void* value) {
  if (&type == &kType<SourcedFigure>)
    *static_cast<SourcedFigure*>(value) = read_figure(entry);
  else if (type.kind == Kind::text)
    *static_cast<std::string*>(value) = scalar(entry);
  else if (type.kind == Kind::integer)
    type.store(value, uint64_t(whole_number(entry, 1, 1 << 20)));
  else if (type.kind == Kind::optional)
    read(entry, *type.element, type.resize(value, 1));
  else if (type.kind == Kind::structure)
    read_struct(entries(entry, names_of_keys(type)), entry.origin, type, value);
  else  // a map
    for (const Entry& one : entries(entry)) read(one, *type.element, type.add(value, one.key));
}

}  // namespace

std::filesystem::path device_file(const std::filesystem::path& project, const std::string& name) {
  if (name.ends_with(".yaml")) return name;
  const std::filesystem::path folder = project / "configs" / "devices";
  std::vector<std::string> names;
  for (const auto& entry : base::entries_of(folder))
    if (entry.extension() == ".yaml") names.push_back(entry.stem());
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw ConfigError({"--device emulated:" + name}, "no such device file",
                      fmt::format("{}", fmt::join(names, ", ")), in_quotes(name), suggestion(name, names));
  }
  return folder / (name + ".yaml");
}

EmulatedDevice read_device_file(const std::filesystem::path& file) {
  const ValueType& type = kType<EmulatedDevice>;
  EmulatedDevice device;
  read_struct(read_yaml(file, names_of_keys(type)), {file.string(), 1}, type, &device);
  if (device.name != file.stem().string())
    throw ConfigError({file.string(), 1}, "the name is not the file's", in_quotes(file.stem().string()),
                      in_quotes(device.name));
  return device;
}

// Where `key` stands in the file, and below it `inner`.
static Origin origin_of(const std::filesystem::path& file, const std::string& key,
                        const std::string& inner = "") {
  Origin origin{file.string()};
  for (const Entry& section : read_yaml(file)) {
    if (section.key != key) continue;
    origin = section.origin;
    if (inner.empty()) continue;
    for (const Entry& part : entries(section))
      if (part.key == inner) origin = part.origin;
  }
  return origin;
}

void require_times(const EmulatedDevice& device, const std::filesystem::path& file, const Row& row) {
  const auto refuse = [&](const Origin& origin, const char* what, const std::string& name) {
    throw ConfigError(origin, fmt::format("no figures for {} {}, which row {} asks for", what, name, row.id),
                      "", "", "add them, or leave the row out with --only");
  };
  const auto network = device.models.find(row.model);
  if (network == device.models.end()) refuse(origin_of(file, "models"), "model", row.model);
  if (!network->second.contains(row.precision))
    refuse(origin_of(file, "models", row.model), "precision", row.precision);
  for (const auto& [name, size, of_row] :
       {std::tuple("image_px", device.image_px, row.image_px), std::tuple("width", device.width, row.width)})
    if (size && *size != of_row)
      throw ConfigError(origin_of(file, name),
                        fmt::format("the times are those of another {} than row {}'s", name, row.id),
                        fmt::format("{}: {}", name, *size), std::to_string(of_row),
                        fmt::format("--set {}={}, or calibrate from rows of this size", name, *size));
}

static void write(YAML::Emitter& yaml, const ValueType& type, const void* value) {
  if (&type == &kType<SourcedFigure>) {  // one line, as in the shipped files
    const SourcedFigure& figure = *static_cast<const SourcedFigure*>(value);
    yaml << YAML::Flow << YAML::BeginMap << YAML::Key << "value" << YAML::Value
         << fmt::format("{:.6g}", figure.value) << YAML::Key << "provenance" << YAML::Value
         << figure.provenance << YAML::Key << "source" << YAML::Value << YAML::DoubleQuoted << figure.source
         << YAML::EndMap;
  } else if (type.kind == Kind::text) {
    yaml << *static_cast<const std::string*>(value);
  } else if (type.kind == Kind::integer) {
    yaml << int64_t(type.load(value));
  } else if (type.kind == Kind::optional) {
    write(yaml, *type.element, type.elements(value).first);
  } else {
    yaml << YAML::BeginMap;
    const auto one = [&](const std::string& name, const ValueType& inner, const void* part) {
      if (inner.kind == Kind::optional && is_empty(inner, part)) return;
      yaml << YAML::Key << name << YAML::Value;
      write(yaml, inner, part);
    };
    if (type.kind == Kind::map)
      for (const auto& [name, part] : type.entries(value)) one(*name, *type.element, part);
    else
      for (const Key& key : type.keys()) one(key.name, *key.type, key.in(value));
    yaml << YAML::EndMap;
  }
}

std::string device_file_text(const EmulatedDevice& device) {
  YAML::Emitter yaml;
  write(yaml, kType<EmulatedDevice>, &device);
  return std::string(yaml.c_str()) + "\n";
}

}  // namespace harness

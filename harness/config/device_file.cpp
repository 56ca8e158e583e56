#include "harness/config/device_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "harness/base/number.h"
#include "harness/config/nearest.h"
#include "harness/config/yaml_file.h"

namespace harness {
namespace {

template <Keyed T>
std::vector<std::string> keys_of() {
  return std::apply([](const auto&... key) { return std::vector<std::string>{key.name...}; }, T::keys());
}

SourcedFigure read_figure(const Entry& entry) {
  SourcedFigure figure;
  std::vector<std::string> missing = keys_of<SourcedFigure>();
  for (const Entry& part : entries(entry, missing)) {
    std::erase(missing, part.key);
    const std::string text = scalar(part);
    if (part.key == "source") figure.source = text;
    if (part.key == "provenance") {
      static const std::vector<std::string> kinds = {"stated", "measured", "published", "assumed"};
      if (std::find(kinds.begin(), kinds.end(), text) == kinds.end())
        throw ConfigError(part.origin, "no provenance", fmt::format("{}", fmt::join(kinds, ", ")),
                          in_quotes(text));
      figure.provenance = text;
    }
    if (part.key != "value") continue;
    const auto value = base::number_of<double>(text);
    if (!value)
      throw ConfigError(part.origin, in_quotes(entry.key) + " is no number",
                        "a number in the unit of the key's name", in_quotes(text));
    figure.value = *value;
    const bool divides = entry.key.find("_per_s") != std::string::npos;
    if (figure.value < 0 || (divides && figure.value == 0))
      throw ConfigError(part.origin, in_quotes(entry.key) + " is out of range",
                        divides ? "a number above 0" : "0 or more", text);
  }
  if (!missing.empty())
    throw ConfigError(entry.origin, "missing key in " + in_quotes(entry.key), in_quotes(missing[0]), "",
                      "each figure has value, provenance and source");
  return figure;
}

// A struct of the contract from the entries of a mapping, which allows keys_of<T>(): every key must be there.
template <Keyed T>
T read_struct(const std::vector<Entry>& parts, const Origin& origin) {
  std::map<std::string, const Entry*> by_key;
  for (const Entry& part : parts) by_key[part.key] = &part;
  T made;
  const auto read = [&](const auto& key) {
    const auto found = by_key.find(key.name);
    if (found == by_key.end())
      throw ConfigError(origin, "missing key", fmt::format("{} ({})", in_quotes(key.name), key.help), "",
                        "add it");
    using Member = std::remove_cvref_t<decltype(made.*key.member)>;
    if constexpr (std::is_same_v<Member, SourcedFigure>)
      made.*key.member = read_figure(*found->second);
    else if constexpr (std::is_same_v<Member, std::string>)
      made.*key.member = scalar(*found->second);
    else
      for (const Entry& one : entries(*found->second)) {
        using Part = typename Member::mapped_type;
        (made.*key.member)[one.key] = read_struct<Part>(entries(one, keys_of<Part>()), one.origin);
      }
  };
  std::apply([&](const auto&... key) { (read(key), ...); }, T::keys());
  return made;
}

}  // namespace

std::filesystem::path device_file(const std::filesystem::path& project, const std::string& name) {
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

}  // namespace harness

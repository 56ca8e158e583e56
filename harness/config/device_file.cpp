#include "harness/config/device_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <functional>
#include <map>

#include "harness/config/nearest.h"
#include "harness/config/yaml_file.h"

namespace harness {
namespace {

template <class T>
concept HasKeys = requires {
  T::keys();
};

SourcedFigure read_figure(const Entry& entry) {
  SourcedFigure figure;
  std::vector<std::string> missing = {"value", "provenance", "source"};
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
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), figure.value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(figure.value))
      throw ConfigError(part.origin, in_quotes(entry.key) + " is no number",
                        "a number in the unit of the key's name", in_quotes(text));
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

// A struct of the contract from a mapping: every key must be there, and no other.
template <HasKeys T>
T read_struct(const std::vector<Entry>& parts, const Origin& origin) {
  std::map<std::string, const Entry*> by_key;
  for (const Entry& part : parts) by_key[part.key] = &part;
  T made;
  std::vector<std::string> known;
  const auto read = [&](const auto& key) {
    known.push_back(key.name);
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
      for (const Entry& one : entries(*found->second))
        (made.*key.member)[one.key] = read_struct<typename Member::mapped_type>(entries(one), one.origin);
  };
  std::apply([&](const auto&... key) { (read(key), ...); }, T::keys());
  for (const Entry& part : parts)
    if (std::find(known.begin(), known.end(), part.key) == known.end())
      throw ConfigError(part.origin, "unknown key", "", in_quotes(part.key), suggestion(part.key, known));
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
  auto device = read_struct<EmulatedDevice>(read_yaml(file), {file.string(), 1});
  if (device.name != file.stem().string())
    throw ConfigError({file.string(), 1}, "the name is not the file's", in_quotes(file.stem().string()),
                      in_quotes(device.name));
  return device;
}

}  // namespace harness

// Reads YAML with yaml-cpp, and refuses a small file whose aliases stand for a huge one (a "YAML bomb").
#include "harness/config/yaml_file.h"

#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "harness/base/comma_list.h"
#include "harness/base/file.h"
#include "harness/base/number.h"
#include "harness/base/plain_text.h"
#include "harness/config/nearest.h"

namespace harness {
namespace {

constexpr int64_t size_limit = 1 << 20, expanded_limit = 2 * size_limit;
constexpr int deepest = 64;  // an alias inside its own anchor never ends
constexpr size_t longest_text = 4096, most_values = 1000;

std::string read_text(const std::filesystem::path& file) {
  Origin origin{file.string()};
  std::error_code error;
  auto status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw ConfigError(origin, "no such file", "a YAML file", "",
                      "check the path; configurations are in configs/");
  if (error) throw ConfigError(origin, "cannot be read", "a YAML file", error.message());
  // Reading a pipe or a device might never end.
  if (status.type() != std::filesystem::file_type::regular)
    throw ConfigError(origin, "is not a regular file", "a YAML file",
                      std::filesystem::is_directory(status) ? "a folder" : "a special file",
                      "name a file, e.g. configs/article.yaml");
  if (std::filesystem::file_size(file, error) > uintmax_t(size_limit) || error)
    throw ConfigError(origin, "too large for a configuration", "at most 1 MiB", "",
                      "split it into several files");
  return base::read_file(file);  // whose error isn't one of the content
}

void check_lines(const Origin& whole, const std::string& text) {
  std::istringstream stream(text);
  Origin origin = whole;
  for (std::string line; std::getline(stream, line);) {
    ++origin.line;
    if (line.ends_with('\r')) line.pop_back();
    if (!is_plain_text(line))
      throw ConfigError(origin, "binary data", "text in UTF-8", "",
                        "check that this is a configuration file");
    size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line[first] == '\t')
      throw ConfigError(origin, "tab in the indentation", "spaces", "a tab", "replace the tab by spaces");
  }
}

std::string kind(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  return node.IsScalar() ? in_quotes(node.Scalar()) : "nothing";
}

std::vector<Entry> entries_of(const YAML::Node& node, const Origin& origin, const std::string& what,
                              const std::vector<std::string>& allowed) {
  if (!node.IsMap())
    throw ConfigError(origin, what + " is not a mapping", "`key: value` entries", kind(node),
                      node.IsNull() ? "write {} for an empty one" : "");
  std::vector<Entry> found;
  std::set<std::string> seen;
  for (const auto& pair : node) {
    Origin at{origin.file, pair.first.Mark().line + 1};
    if (!pair.first.IsScalar()) throw ConfigError(at, "a key is not a scalar", "a name", kind(pair.first));
    std::string key = pair.first.Scalar();
    if (key == "<<")
      throw ConfigError(at, "merge keys are not read", "", "'<<'",
                        "inherit from another row with `like: <id>`");
    if (!allowed.empty()) require_known(at, "key in " + what, key, allowed);
    if (!seen.insert(key).second)
      throw ConfigError(at, "duplicate key in " + what, "each key once", in_quotes(key),
                        "delete or rename one of them");
    found.push_back({key, pair.second, at});
  }
  return found;
}

// Counts the bytes of the node with every alias written out; `here.line`: the last line that was reached.
void check_expanded(const YAML::Node& node, Origin& here, int64_t& bytes, int depth = 0) {
  here.line = std::max(here.line, node.Mark().line + 1);
  bytes += 1 + (node.IsScalar() ? int64_t(node.Scalar().size()) : 0);
  if (bytes > expanded_limit || depth > deepest)
    throw ConfigError(here, "too large with every alias written out",
                      fmt::format("at most {} bytes, nested at most {} deep", expanded_limit, deepest), "",
                      "remove aliases (`*name`), or split the file");
  for (const auto& child : node)
    if (node.IsMap()) {
      check_expanded(child.first, here, bytes, depth + 1);
      check_expanded(child.second, here, bytes, depth + 1);
    } else {
      check_expanded(child, here, bytes, depth + 1);
    }
}

struct NoEvents : YAML::EventHandler {
  using Mark = const YAML::Mark&;
  using Text = const std::string&;
  void OnDocumentStart(Mark) override {}
  void OnDocumentEnd() override {}
  void OnNull(Mark, YAML::anchor_t) override {}
  void OnAlias(Mark, YAML::anchor_t) override {}
  void OnScalar(Mark, Text, YAML::anchor_t, Text) override {}
  void OnSequenceStart(Mark, Text, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(Mark, Text, YAML::anchor_t, YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// Whether anything follows the first document. Not LoadAll(): of `,` it makes empty documents until the
// memory is used up.
bool holds_more(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  NoEvents events;
  return parser.HandleNextDocument(events) && parser.HandleNextDocument(events);
}

}  // namespace

bool is_plain_text(const std::string& text) {
  if (base::plain_text(text) != text) return false;
  try {
    (void)nlohmann::json(text).dump();  // throws when the text isn't UTF-8, as writing a record would
    return true;
  } catch (const nlohmann::json::exception&) {
    return false;
  }
}

std::vector<Entry> read_yaml(const std::filesystem::path& file, const std::vector<std::string>& allowed) {
  Origin origin{file.string()};
  std::string text = read_text(file);
  check_lines(origin, text);
  try {
    const YAML::Node document = YAML::Load(text);
    origin.line = 1;
    if (holds_more(text))
      throw ConfigError(origin, "several documents in one file", "one", "",
                        "remove the `---` between them, or what follows the end of the first");
    if (!document.IsDefined() || document.IsNull())
      throw ConfigError(origin, "empty file", "`key: value` entries", "",
                        "see configs/article.yaml for an example");
    Origin reached = origin;
    int64_t bytes = 0;
    check_expanded(document, reached, bytes);
    return entries_of(document, origin, "the file", allowed);
  } catch (const YAML::DeepRecursion& error) {
    origin.line = error.mark.line + 1;
    throw ConfigError(origin, "nested too deeply", "mappings at most four deep");
  } catch (const YAML::Exception& error) {
    origin.line = error.mark.line + 1;
    throw ConfigError(origin, "invalid YAML", "", error.msg,
                      "check quotes, colons and indentation near here");
  }
}

std::vector<Entry> entries(const Entry& mapping, const std::vector<std::string>& allowed) {
  return entries_of(mapping.value, mapping.origin, in_quotes(mapping.key), allowed);
}

std::vector<Entry> items(const Entry& list) {
  if (!list.value.IsSequence()) return {list};
  std::vector<Entry> found;
  for (const YAML::Node& node : list.value)
    found.push_back({list.key, node, {list.origin.file, node.Mark().line + 1}});
  if (found.empty()) throw ConfigError(list.origin, in_quotes(list.key) + " is empty", "at least one item");
  return found;
}

std::string scalar(const Entry& entry) {
  if (!entry.value.IsScalar())
    throw ConfigError(entry.origin, "wrong type of " + in_quotes(entry.key), "one value", kind(entry.value));
  const std::string& text = entry.value.Scalar();
  if (!is_plain_text(text))
    throw ConfigError(entry.origin, "control character in " + in_quotes(entry.key), "plain text",
                      in_quotes(text));
  if (text.size() > longest_text)
    throw ConfigError(entry.origin, in_quotes(entry.key) + " is too long",
                      fmt::format("at most {} bytes", longest_text), std::to_string(text.size()));
  return text;
}

std::string described(const FigureLimits& limits) {
  return fmt::format("from {} to {}{}{}{}", limits.min, limits.max, *limits.unit ? " " : "", limits.unit,
                     limits.or_zero ? ", or 0" : "");
}

template <class Number>
static Number number_in(const Entry& entry, const char* kind, const FigureLimits& limits) {
  const std::string text = scalar(entry);
  const auto value = base::number_of<Number>(text);
  if (!value || !limits.hold(double(*value)))
    throw ConfigError(entry.origin, "wrong value of " + in_quotes(entry.key),
                      fmt::format("{} {}", kind, described(limits)), in_quotes(text));
  return *value;
}

int64_t whole_number(const Entry& entry, int64_t min, int64_t max) {
  return number_in<int64_t>(entry, "a whole number", {double(min), double(max)});
}
double number(const Entry& entry, const FigureLimits& limits) {
  return number_in<double>(entry, "a number", limits);
}

std::vector<std::string> words(const Entry& entry) {
  if (!entry.value.IsSequence()) return base::split_at_commas(scalar(entry));
  if (entry.value.size() > most_values)
    throw ConfigError(entry.origin, "the list of " + in_quotes(entry.key) + " is too long",
                      fmt::format("at most {} values", most_values), std::to_string(entry.value.size()));
  std::vector<std::string> found;
  for (const YAML::Node& item : entry.value) found.push_back(scalar({entry.key, item, entry.origin}));
  return found;
}

}  // namespace harness

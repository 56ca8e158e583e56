// Resolves a matrix file layer by layer.
#include "harness/config/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/config/installation.h"
#include "harness/config/nearest.h"
#include "harness/config/row_lists.h"

namespace harness {
namespace {

struct Written {
  std::string id;
  std::string like;
  Origin origin, like_origin;
  Settings settings;
  Settings as_run;  // not replaced by the scale
};

constexpr size_t kDeepestLike = 32;

bool is_id(const std::string& text) {
  constexpr size_t longest = 64;
  return !text.empty() && text.size() <= longest &&
         std::ranges::all_of(
             text, [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_' || c == '.'; }) &&
         text[0] != '.' && text[0] != '-';
}

class Resolver {
 public:
  Resolver(const Scale& scale, const AxisValues& values, const std::string& device)
      : scale_(scale), values_(values), device_(device) {}

  const std::vector<std::string>& read(const std::vector<Entry>& sections) {
    for (const Entry& section : sections) {
      if (section.key == "defaults") defaults_ = read_settings(section);
      if (section.key == "rows") read_rows(section);
    }
    return ids_;
  }

  Matrix load(const std::filesystem::path& file) {
    Matrix matrix;
    matrix.file = file.string();
    // report/claim_question.h reads the claims.
    const std::vector<Entry> sections = read_yaml(
        file, {"title", "source", "defaults", "aliases", "repeated", "drawn", "rows", "tables", "claims"});
    for (const Entry& section : sections) {
      if (section.key == "title") matrix.title = scalar(section);
      if (section.key == "source") matrix.source = scalar(section);
    }
    if (read(sections).empty())
      throw ConfigError({file.string(), 1}, "no rows", "a mapping `rows:` with at least one row", "",
                        "see configs/article.yaml for an example");
    for (const Written& row : rows_) {
      matrix.rows.push_back(resolve(row));
      matrix.origins[row.id] = row.origin;
    }
    for (const Row& row : matrix.rows) check_base(matrix, row);
    refuse_circles_of_bases(matrix);
    for (const Entry& section : sections)
      if (section.key == "aliases")
        read_aliases(section, matrix);
      else if (section.key == "repeated" || section.key == "drawn")
        for (const std::string& id : words(section))
          (section.key == "drawn" ? matrix.drawn : matrix.repeated)
              .push_back(find(id, section.origin, section.key.c_str()).id);
      else if (section.key == "tables")
        matrix.tables = read_tables(section, ids_);
    return matrix;
  }

 private:
  void read_rows(const Entry& section) {
    for (const Entry& entry : entries(section)) {
      if (!is_id(entry.key))
        throw ConfigError(entry.origin, "invalid id of a row", "letters, digits, '-', '_' and '.'",
                          in_quotes(entry.key));
      Written row{.id = entry.key,
                  .like = "",
                  .origin = entry.origin,
                  .like_origin = {},
                  .settings = {},
                  .as_run = {}};
      row.settings = read_settings(entry, {"like", "as_run", "zip"}, Lists::left_out);
      for (const Entry& part : entries(entry)) {
        if (part.key == "as_run") row.as_run = read_settings(part);
        if (part.key == "like") {
          row.like = scalar(part);
          row.like_origin = part.origin;
        }
      }
      add_combinations(row, combinations_of(entry));
    }
  }

  // Without a base of its own, a combination is compared with the first that isn't skipped.
  void add_combinations(const Written& written, const std::vector<Combination>& combinations) {
    const auto first = std::ranges::find_if(
        combinations, [](const Combination& one) { return !one.settings.count("skip"); });
    for (const Combination& one : combinations) {
      if (!is_id(one.id))
        throw ConfigError(written.origin, "a combination's id is too long", "at most 64 characters",
                          in_quotes(one.id), "give the row a shorter id");
      Written row = written;
      row.id = one.id;
      for (const auto& [field, setting] : one.settings) row.settings[field] = setting;
      if (!one.title.empty()) {
        const auto title = row.settings.find("title");
        row.settings["title"] = {
            (title == row.settings.end() ? written.id : title->second.text) + ": " + one.title, row.origin};
        if (!row.settings.count("base") && first != combinations.end() && one.id != first->id)
          row.settings["base"] = {first->id, row.origin};
      }
      if (rows_.size() == kMostRows)
        throw ConfigError(written.origin, "too many rows", fmt::format("at most {} in a matrix", kMostRows),
                          "more", "split it into several files");
      ids_.push_back(row.id);
      rows_.push_back(std::move(row));
    }
  }

  const Written& find(const std::string& id, const Origin& origin, const char* key) const {
    for (const Written& row : rows_)
      if (row.id == id) return row;
    throw ConfigError(origin, fmt::format("`{}:` names a row that does not exist", key), "", in_quotes(id),
                      suggestion(id, ids_));
  }

  // The rows that it inherits from with `like:`, the nearest last, and then the row itself.
  std::vector<const Written*> chain(const Written& row) const {
    std::vector<const Written*> links = {&row};
    while (!links.back()->like.empty()) {
      const Written& last = *links.back();
      const Written& next = find(last.like, last.like_origin, "like");
      if (std::ranges::find(links, &next) != links.end())
        throw ConfigError(last.like_origin, "`like:` forms a circle", "a row that is not like this one",
                          in_quotes(next.id), "remove one `like:` of the circle");
      if (links.size() == kDeepestLike)
        throw ConfigError(last.like_origin, "`like:` follows too many rows",
                          fmt::format("at most {} after one another", kDeepestLike), "more",
                          "name a row that is nearer to the fields");
      links.push_back(&next);
    }
    std::ranges::reverse(links);
    return links;
  }

  Settings merge(const std::vector<const Written*>& links) const {
    Settings merged = defaults_;
    for (const Written* link : links)
      for (const auto& [field, setting] : link->settings)
        if (link == links.back() || !has_role(field, Role::descriptive)) merged[field] = setting;
    return merged;
  }

  Row resolve(const Written& written) const {
    Row row;
    row.id = written.id;
    row.cpus = row.loader_threads = scale_.c0;
    row.device = device_;
    const std::vector<const Written*> links = chain(written);
    const Settings merged = merge(links);
    for (const auto& [field, setting] : merged) assign(row, field, setting, scale_.c0, values_);
    // A plain number of cores is meant as it is; a multiple of C0 only says how it compares with other rows.
    if (merged.count("cpus") && merged.at("cpus").text.find("C0") == std::string::npos)
      row.as_run.push_back("cpus");
    if (row.title.empty()) row.title = row.id;
    if (defaults_.count("inferred") && written.settings.count("inferred"))
      row.inferred = defaults_.at("inferred").text + "," + row.inferred;
    if (std::ranges::none_of(links, [](const Written* link) { return link->as_run.count("batch"); }))
      divide_batch(row, merged.count("batch") ? merged.at("batch").origin : written.origin);
    for (const Written* link : links)
      for (const auto& [field, setting] : link->as_run) {
        assign(row, field, setting, scale_.c0, values_);
        row.as_run.push_back(field);
      }
    apply(scale_, row, values_);
    check_combination(row, written.origin, values_);
    return row;
  }

  void divide_batch(Row& row, const Origin& origin) const {
    if (row.batch % scale_.batch_divisor != 0)
      throw ConfigError(origin,
                        fmt::format("row {}: scale {} divides the batch by {}", in_quotes(row.id),
                                    scale_.name, scale_.batch_divisor),
                        fmt::format("a multiple of {}", scale_.batch_divisor), std::to_string(row.batch),
                        "change it, or choose another --scale");
    row.batch /= scale_.batch_divisor;
  }

  void check_base(const Matrix& matrix, const Row& row) const {
    const Written& written = find(row.id, {}, "base");
    if (row.question.empty() != row.answer.empty() || (!row.question.empty() && row.base.empty()))
      throw ConfigError(
          written.origin,
          fmt::format("row {}: a question is answered by comparing figures with the base", in_quotes(row.id)),
          "question, answer and base together",
          fmt::format("question {}, answer {}, base {}", in_quotes(row.question), in_quotes(row.answer),
                      in_quotes(row.base)));
    if (row.base.empty()) return;
    const Origin origin = origin_of_base(written);
    find(row.base, origin, "base");
    for (const Row& base : matrix.rows)
      if (base.id == row.base && base.window != row.window)
        throw ConfigError(origin, fmt::format("row {} and its base must share the window", in_quotes(row.id)),
                          row.window, base.window + " of row " + in_quotes(base.id));
  }

  static Origin origin_of_base(const Written& row) {
    return row.settings.count("base") ? row.settings.at("base").origin : row.origin;
  }

  void refuse_circles_of_bases(const Matrix& matrix) const {
    std::map<std::string, std::string> base_of;
    for (const Row& row : matrix.rows) base_of[row.id] = row.base;
    for (const auto& [id, base] : base_of) {
      std::vector<std::string> way = {id, base};
      while (!way.back().empty() && way.back() != id && way.size() <= base_of.size())
        way.push_back(base_of[way.back()]);
      if (way.back() == id)
        throw ConfigError(origin_of_base(find(id, {}, "base")), "`base:` forms a circle",
                          "bases that end in a row without one", fmt::format("{}", fmt::join(way, " -> ")),
                          "remove one `base:` of the circle");
    }
  }

  void read_aliases(const Entry& section, Matrix& matrix) const {
    for (const Entry& entry : entries(section)) {
      std::string id = scalar(entry);
      find(id, entry.origin, "aliases");
      if (!is_id(entry.key) || std::ranges::find(ids_, entry.key) != ids_.end())
        throw ConfigError(entry.origin, "an alias can't have this name", "a name that no row has",
                          in_quotes(entry.key));
      matrix.aliases.emplace_back(entry.key, id);
    }
  }

  const Scale& scale_;
  const AxisValues& values_;
  std::string device_;
  Settings defaults_;
  std::vector<Written> rows_;
  std::vector<std::string> ids_;
};

}  // namespace

Matrix load_matrix(const std::filesystem::path& file, const Scale& scale, const AxisValues& values,
                   const std::string& device) {
  return Resolver(scale, values, device).load(file);
}

std::vector<std::string> row_ids(const std::vector<Entry>& sections) {
  return Resolver({}, {}, "").read(sections);
}

const Matrix& article_matrix() {
  static const Matrix article =
      load_matrix(find_installation().project / "configs" / "article.yaml", Scale());
  return article;
}

}  // namespace harness

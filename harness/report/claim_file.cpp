// Reads the key `claims` of a matrix: a list of claims, each one part or a list of parts. Keeps it and the
// key `tables` of a user's own matrices with their run.
#include <fmt/format.h>

#include <algorithm>

#include "harness/base/number.h"
#include "harness/config/config.h"
#include "harness/config/installation.h"
#include "harness/config/nearest.h"
#include "harness/config/yaml_file.h"
#include "harness/report/article_tables.h"
#include "harness/report/claim_question.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

using Words = std::vector<std::string>;
using Judging = std::function<Finding(const ClaimRows&)>;
using Remarking = std::function<void(const ClaimRows&, Finding&)>;

size_t place_of(const Words& names, const std::string& name) {
  return size_t(std::ranges::find(names, name) - names.begin());
}

const std::string& known(const std::string& name, const Words& names, const Entry& at,
                         const std::string& what) {
  require_known(at.origin, what, name, names);
  return name;
}

template <class Value>
const Value& named(const std::string& name, const std::map<std::string, Value>& all, const Entry& at,
                   const char* what) {
  Words names;
  for (const auto& [one, value] : all) names.push_back(one);
  return all.at(known(name, names, at, what));
}

Words known_words(const Entry& entry, const Words& names, const char* what) {
  const Words list = words(entry);
  for (const std::string& word : list) known(word, names, entry, what);
  return list;
}

// The one entry of a mapping, as `cold: disk`.
Entry single(const Entry& item) {
  const std::vector<Entry> all = entries(item);
  if (all.size() != 1)
    throw ConfigError(item.origin, in_quotes(item.key) + " has items of one name each", "e.g. `cold: disk`",
                      fmt::format("{} names", all.size()));
  return all[0];
}

double limit_of(const Entry& entry) {
  const auto value = base::number_of<double>(scalar(entry));
  if (!value || *value <= 0)
    throw ConfigError(entry.origin, "wrong limit", "a number above 0", in_quotes(scalar(entry)));
  return *value;
}

// A test as the matrix states it.
struct AskedTest {
  std::string what;
  Quantity quantity;
  QuantityOf of;
  double low = 0, high = kNoLimit;
  std::string around;  // the limits are multiples of this field of the last row; empty: of 1

  Test on(const ClaimRows& rows) const {
    const double unit = around.empty() ? 1 : field_number(rows[of.rows.back().first].config, around);
    return {what,
            figure_of(quantity, of, rows),
            {low * unit, high * unit},
            of.rows.size() == 1 || quantity.of_two ? quantity.unit : ""};
  }
};

class PartReader {
 public:
  // `ids`: of the matrix's rows; empty if they are not known.
  explicit PartReader(const Words& ids) : ids_(ids) {}

  Question read(const Entry& entry) {
    std::vector<Remarking> remarks;
    Judging judge;
    for (const Entry& key :
         entries(entry, {"text", "needs", "tests", "judge", "not_measured", "remarks", "by_construction"})) {
      if (key.key == "text") question_.text = scalar(key);
      if (key.key == "needs")
        for (const Entry& item : items(key)) add_need(single(item));
      if (key.key == "remarks")
        for (const Entry& item : items(key)) remarks.push_back(remark(item));
      if (key.key == "by_construction")
        question_.by_construction =
            known(scalar(key), {kDeviceFile, kCoreRate}, key, "source of an answer by construction");
      if (key.key != "tests" && key.key != "judge" && key.key != "not_measured") continue;
      if (judge)
        throw ConfigError(key.origin, "a part is answered once", "one of tests, judge, not_measured");
      judge = answer(key);
    }
    if (question_.text.empty() || !judge)
      throw ConfigError(entry.origin,
                        "part of a claim lacks " + std::string(judge ? "its `text`" : "an answer"),
                        "`text`, and `tests`, `judge` or `not_measured`");
    std::ranges::stable_sort(
        question_.rows, [&](const auto& a, const auto& b) { return place_of(ids_, a) < place_of(ids_, b); });
    question_.judge = [judge, remarks](const ClaimRows& rows) {
      Finding finding = judge(rows);
      for (const Remarking& remark : remarks)
        if (finding.verdict != ClaimVerdict::cannot_be_tested) remark(rows, finding);
      return finding;
    };
    return question_;
  }

 private:
  const std::string& row(const std::string& id, const Entry& at) {
    if (!ids_.empty()) known(id, ids_, at, "row in a claim");
    if (place_of(question_.rows, id) == question_.rows.size()) question_.rows.push_back(id);
    return id;
  }
  Words rows(const Entry& entry) {
    const Words ids = words(entry);
    for (const std::string& id : ids) row(id, entry);
    return ids;
  }

  // `cold: disk`, or `only_differ: {rows: [0, 5], fields: devices}`
  void add_need(const Entry& entry) {
    const Need& need = named(entry.key, needs(), entry, "need");
    Condition it;
    if (!entry.value.IsMap()) it.rows = rows(entry);
    for (const Entry& key :
         entry.value.IsMap() ? entries(entry, {"rows", "fields", "otherwise"}) : std::vector<Entry>()) {
      if (key.key == "rows") it.rows = rows(key);
      if (key.key == "fields") it.fields = known_words(key, field_names(), "field");
      if (key.key == "otherwise") it.otherwise = scalar(key);
    }
    if (it.rows.empty() || (need.rows > 0 && it.rows.size() != need.rows) ||
        need.takes_fields == it.fields.empty() || need.takes_otherwise == it.otherwise.empty())
      throw ConfigError(
          entry.origin, "wrong arguments of need " + in_quotes(entry.key),
          fmt::format("{} rows{}{}", need.rows == 0 ? "some" : std::to_string(need.rows),
                      need.takes_fields ? ", `fields`" : "", need.takes_otherwise ? ", `otherwise`" : ""));
    question_.needs.push_back([check = need.why_not, it](const ClaimRows& all) { return check(all, it); });
  }

  // A text, or `sixteen_bit_type: o2`.
  Remarking remark(const Entry& item) {
    if (item.value.IsScalar())
      return [text = "; " + scalar(item)](const ClaimRows&, Finding& finding) { finding.reason += text; };
    const Entry entry = single(item);
    return [remark = named(entry.key, remarks(), entry, "remark"), id = row(scalar(entry), entry)](
               const ClaimRows& all, Finding& finding) { remark(all, id, finding); };
  }

  Judging answer(const Entry& key) {
    if (key.key == "not_measured")
      return [why = scalar(key)](const ClaimRows&) { return Finding{ClaimVerdict::not_measured, "", why}; };
    if (key.key == "judge") {
      const Words all = words(key);
      return [judge = named(all.empty() ? "" : all[0], judges(), key, "judge"),
              arguments = Words(all.begin() + 1, all.end())](const ClaimRows& rows) {
        return judge(rows.summary, arguments);
      };
    }
    std::vector<AskedTest> asked;
    for (const Entry& item : items(key)) asked.push_back(test(item));
    return [asked](const ClaimRows& all) {
      std::vector<Test> tests;
      for (const AskedTest& one : asked) tests.push_back(one.on(all));
      return judged(tests);
    };
  }

  AskedTest test(const Entry& item) {
    using Takes = Quantity::Takes;
    AskedTest test;
    std::string name;
    double within = 0;
    for (const Entry& key : entries(item, {"what", "quantity", "phases", "from_batch", "of", "above", "below",
                                           "within", "around"})) {
      if (key.key == "what") test.what = scalar(key);
      if (key.key == "quantity") test.quantity = named(name = scalar(key), quantities(), key, "quantity");
      if (key.key == "phases") test.of.phases = known_words(key, phase_names(), "phase");
      if (key.key == "from_batch") test.of.first_batch = whole_number(key, 1, 1000000);
      if (key.key == "of") test.of.rows = powers(key);
      if (key.key == "above") test.low = limit_of(key);
      if (key.key == "below") test.high = limit_of(key);
      if (key.key == "within") within = limit_of(key);
      if (key.key == "around") test.around = known(scalar(key), field_names(), key, "field");
    }
    const auto require = [&](bool is_met, const std::string& expected) {
      if (!is_met) throw ConfigError(item.origin, "incomplete or contradictory test", expected);
    };
    require(!name.empty() && !test.of.rows.empty(), "`quantity`, and its rows as `of`");
    const Takes takes = test.quantity.takes;
    require((takes == Takes::phases) != test.of.phases.empty(),
            fmt::format("{} `phases` of {}", takes == Takes::phases ? "the" : "no", name));
    require(takes == Takes::first_batch || test.of.first_batch == 0, "no `from_batch` of " + name);
    require(takes != Takes::two_rows || test.of.rows.size() == 2, name + " of two rows");
    require(within > 0 ? within < 1 && test.low == 0 && test.high == kNoLimit
                       : test.low < test.high && (test.low > 0 || test.high != kNoLimit),
            "`above`, a larger `below` or both; or `within`, under 1");
    if (within > 0) test.low = 1 - within, test.high = 1 + within;
    if (test.what.empty()) test.what = description_of(test.quantity, test.of);
    return test;
  }

  // A row, two rows whose figures are divided, or a product as {ROW: POWER, ...}.
  std::vector<std::pair<std::string, int>> powers(const Entry& of) {
    std::vector<std::pair<std::string, int>> all;
    if (of.value.IsMap())
      for (const Entry& power : entries(of))
        all.emplace_back(row(power.key, power), int(whole_number(power, -9, 9)));
    else
      for (const std::string& id : rows(of)) all.emplace_back(id, all.empty() ? 1 : -1);
    if (!of.value.IsMap() && all.size() > 2)
      throw ConfigError(of.origin, "a quotient has two rows", "e.g. `of: [0, 7]`",
                        fmt::format("{} rows", all.size()), "write a product as {ROW: POWER, ...}");
    return all;
  }

  const Words& ids_;
  Question question_;
};

// The values of a key; none without it.
std::vector<Entry> parts_under(const std::string& key, const std::vector<Entry>& sections) {
  for (const Entry& section : sections)
    if (section.key == key) return key == "claims" ? items(section) : entries(section);
  return {};
}

// The claims and tables of a file. Where it also has rows, they may only name these.
OwnParts parts_in(const std::vector<Entry>& sections, bool own) {
  const auto has = [&](const char* key) { return std::ranges::count(sections, key, &Entry::key) > 0; };
  Words ids;
  if (has("rows") && (has("claims") || has("tables"))) ids = row_ids(sections);
  OwnParts parts;
  const std::vector<Entry> claims = parts_under("claims", sections);
  for (size_t i = 0; i < claims.size(); ++i)
    for (const Entry& part : items(claims[i])) {
      parts.questions.push_back(PartReader(ids).read(part));
      parts.questions.back().claim = i + 1;
      parts.questions.back().own = own;
    }
  for (const Entry& section : sections)
    if (section.key == "tables") parts.tables = read_tables(section, ids);
  return parts;
}

// Throws for names of which no row can have a figure.
void check(const MatrixTable& table) {
  const Summary nothing;
  for (const TableColumn& column : table.columns) column_of(nothing, column);
  for (const TableNote& note : table.notes) lines_of(nothing, note);
}

}  // namespace

const std::vector<Question>& article_questions() {
  static const std::vector<Question> all =
      parts_in(read_yaml(find_installation().project / "configs" / "article.yaml"), false).questions;
  return all;
}

OwnParts own_parts(const std::vector<std::filesystem::path>& matrices, const std::filesystem::path& project) {
  OwnParts own;
  YAML::Node claims, tables, file;
  for (const std::filesystem::path& matrix : matrices) {
    const std::vector<Entry> sections = read_yaml(matrix);
    OwnParts parts = parts_in(sections, true);
    if (std::filesystem::equivalent(matrix, project / "configs" / "article.yaml")) continue;
    for (Question& question : parts.questions) {
      question.claim += claims.size();
      own.questions.push_back(std::move(question));
    }
    for (const Entry& claim : parts_under("claims", sections)) claims.push_back(claim.value);
    for (const Entry& table : parts_under("tables", sections)) {
      if (tables[table.key].IsDefined())
        throw ConfigError(table.origin, "two matrices have a table of one title", "a title of its own",
                          in_quotes(table.key));
      tables[table.key] = table.value;
    }
    for (MatrixTable& table : parts.tables) {
      check(table);
      own.tables.push_back(std::move(table));
    }
  }
  if (claims.size() > 0) file["claims"] = claims;
  if (tables.size() > 0) file["tables"] = tables;
  if (file.size() > 0) own.text = YAML::Dump(file) + "\n";
  return own;
}

OwnParts read_own_parts(const std::filesystem::path& claims_file) {
  return parts_in(read_yaml(claims_file), true);
}

}  // namespace harness

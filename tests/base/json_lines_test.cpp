// unit: reading files of JSON lines: what a damaged line costs and how it is named.
#include <gtest/gtest.h>

#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "harness/base/json_text.h"
#include "tests/support/failure_of.h"

namespace base::json_lines_test {

TEST(JsonLines, ADamagedLineCostsItselfAndIsNamed) {
  std::istringstream input(std::string(10, '\n') + "{\"a\": 1}\n\n \r\nno JSON\n[2]\n" +
                           std::string(2000, '[') + "\n{\"a\": 3}\n{\"a");
  std::ostringstream warnings;
  std::vector<std::pair<int, int>> taken;  // value, line
  const size_t bad = read_json_lines(input, "some.jsonl", warnings, "line left out",
                                     [&](const nlohmann::json& object, int line) {
                                       if (!object.is_object()) throw std::runtime_error("no object");
                                       taken.emplace_back(object["a"], line);
                                     });
  EXPECT_EQ(taken, (std::vector<std::pair<int, int>>{{1, 11}, {3, 17}}));
  EXPECT_EQ(bad, 4u);
  EXPECT_EQ(warnings.str(),
            "some.jsonl:14: not JSON, or nested too deep; line left out\n"
            "some.jsonl:15: no object; line left out\n"
            "some.jsonl:16: not JSON, or nested too deep; line left out\n"
            "some.jsonl:18: the line is cut off; the program was stopped while writing it; line left out\n");
}

TEST(JsonLines, AWholeLastLineNeedsNoNewline) {
  std::istringstream input("1\n2");
  std::ostringstream warnings;
  int sum = 0;
  EXPECT_EQ(
      read_json_lines(input, "", warnings, "", [&](const nlohmann::json& one, int) { sum += int(one); }), 0u);
  EXPECT_EQ(sum, 3);
  EXPECT_EQ(warnings.str(), "");
}

// A file whose second read fails, as that of a damaged disk does.
struct Damaged : std::streambuf {
  int underflow() override {
    if (eback()) throw std::ios_base::failure("read");
    setg(first, first, first + sizeof first - 1);
    return first[0];
  }
  char first[5] = "1\n2\n";
};

TEST(JsonLines, APartOfAFileIsNoResult) {
  Damaged damaged;
  std::istream input(&damaged);
  std::ostringstream warnings;
  const auto read = [&] {
    read_json_lines(input, "some.jsonl", warnings, "", [](const nlohmann::json&, int) {});
  };
  EXPECT_SAYS(failure_of(read), "some.jsonl: can't be read to its end");
}

}  // namespace base::json_lines_test

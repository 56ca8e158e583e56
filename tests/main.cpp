// main of every test program. A program holds the tests of many files; --file=row_test runs those of
// row_test.cpp, which is how CTest calls it. All other options are GoogleTest's, and a --gtest_filter
// replaces --file.
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <string_view>

#include "harness/base/program_start.h"

#ifdef NEEDS_GPU
#include "bench/registry/registry.h"

// Without a GPU these tests are skipped as a whole, and CTest is told so.
static std::string why_not() {
  for (const bench::Value& value : bench::registered_values())
    if (value.axis == "device" && value.name == "cuda") return value.missing;
  return "this build has no device cuda";
}
#else
static std::string why_not() { return ""; }
#endif

// GoogleTest's filter for the tests of one file: their full names; empty when the file has none.
static std::string tests_of(std::string_view file) {
  std::string filter;
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::filesystem::path(test.file()).stem() != file) continue;
      filter += (filter.empty() ? "" : ":") + std::string(suite.name()) + '.' + test.name();
    }
  }
  return filter;
}

int main(int argc, char** argv) {
  base::start_program();  // as in the programs: a write to a child that has died is an error
  if (const std::string why = why_not(); !why.empty()) {
    std::cout << "skipped: " << why << '\n';
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i], option = "--file=";
    if (!word.starts_with(option) || testing::GTEST_FLAG(filter) != "*") continue;
    const std::string_view file = word.substr(option.size());
    testing::GTEST_FLAG(filter) = tests_of(file);
    if (testing::GTEST_FLAG(filter).empty()) {
      std::cerr << argv[0] << ": no test is in " << file << ".cpp\n";
      return 2;
    }
  }
  return RUN_ALL_TESTS();
}

// unit: the field `command` as an argument vector, the program that it becomes, what a machine lacks for it,
// and the fields that an external loader has no use for
#include <gtest/gtest.h>

#include <fstream>

#include "harness/base/child_process.h"
#include "harness/config/config.h"
#include "harness/config/row_traits.h"
#include "harness/config/settings.h"
#include "harness/contract/loader_command.h"
#include "harness/launch/rank_program.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace harness::loader_program_test {

TEST(LoaderCommand, ACommandIsWordsAndNoShellsLine) {
  EXPECT_EQ(words_of_command("python  a.py\t--size 3"), (Words{"python", "a.py", "--size", "3"}));
  EXPECT_EQ(words_of_command("python '/my data/a.py' \"b 'c'\" x'y z'"),
            (Words{"python", "/my data/a.py", "b 'c'", "xy z"}));
  EXPECT_EQ(words_of_command("python a.py ; rm -rf $HOME `id` | cat"),
            (Words{"python", "a.py", ";", "rm", "-rf", "$HOME", "`id`", "|", "cat"}));
  EXPECT_EQ(words_of_command("python a.py ''"), (Words{"python", "a.py", ""}));
  EXPECT_EQ(loader_command_problem("python a.py"), "");
  EXPECT_EQ(loader_command_problem(""), "");
  for (const char* wrong : {"a.py", "python", "python a.txt"})
    EXPECT_SAYS(loader_command_problem(wrong), "`python NAME.py`") << wrong;
}

class LoaderProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (!base::program_exists("python3")) GTEST_SKIP() << "no python3";
  }
  std::string why_not(const std::string& adapter, const std::string& python = "python3") {
    const fs::path file = folder_ / ("adapter" + std::to_string(++adapters_) + ".py");
    std::ofstream(file) << adapter;
    Row row;
    row.loader = "external";
    row.command = python + " " + file.string();
    return why_no_loader(row);
  }
  const TemporaryFolder folder_;
  int adapters_ = 0;
};

TEST_F(LoaderProgram, WhatAMachineLacksIsNamedWithTheNextStep) {
  const std::string function = "def batches(*all):\n    yield\n";
  EXPECT_EQ(why_not("import json, os.path\nfrom sys import path\n" + function), "");
  EXPECT_EQ(why_not(function + "def f():\n    import no_such_package\n"), "")
      << "needed only if it is called";
  EXPECT_SAYS(why_not("import no_such_package\nfrom nor_this.one import x\n" + function),
              "has no no_such_package, nor_this; next: ");
  EXPECT_SAYS(why_not("import no_such_package\n" + function),
              " -m pip install no_such_package, or name another Python");
  std::ofstream(folder_ / "beside_it.py") << "import cv2_is_not_here\n";
  EXPECT_SAYS(why_not("import beside_it\n" + function), "has no cv2_is_not_here");
  EXPECT_SAYS(why_not("raise OSError('libgone.so')\n" + function), "can't be loaded: OSError: libgone.so");
  EXPECT_SAYS(why_not("def\n"), "SyntaxError");
  EXPECT_SAYS(why_not("x = 1\n"), "expected a function batches");
  EXPECT_SAYS(why_not(function, "/no/such/python"),
              "/no/such/python: can't be started: No such file or directory; next: name a Python");
  EXPECT_SAYS(why_not(function, "cat"), "is no Python that runs ring.py");
  Row row;
  row.loader = "external";
  row.command = "python3 no_such_adapter.py";
  EXPECT_SAYS(why_no_loader(row), "no_such_adapter.py doesn't exist");
}

TEST_F(LoaderProgram, OnlyRowsThatItCanLoadForHaveIt) {
  const auto refused = [](auto... changes) {
    Row row;
    row.id = "row";
    row.loader = "external";
    row.command = "python a.py";
    row.storage = "files";
    (changes(row), ...);
    return failure_of([&] { check_combination(row, {}, {}); });
  };
  EXPECT_EQ(refused([](Row&) {}), "");
  EXPECT_SAYS(refused([](Row& row) { row.command = ""; }), "loader external needs a program");
  EXPECT_SAYS(refused([](Row& row) { row.loader = "suite"; }), "command starts an external loader");
  EXPECT_SAYS(refused([](Row& row) { row.storage = "lmdb"; }),
              "loader external has no such storage; expected storage: files");
  EXPECT_SAYS(refused([](Row& row) { row.cache = "cold"; }), "expected cache: warm or as_is");
  EXPECT_SAYS(refused([](Row& row) { row.part = "reading"; }), "expected part: all or loading");
  EXPECT_SAYS(refused([](Row& row) { row.loader = "external_alone"; }), "expected part: loading");
  EXPECT_SAYS(refused([](Row& row) { row.loader_threads = 0; }), "expected loader_threads: 1 or more");
  EXPECT_SAYS(refused([](Row& row) { row.handing_over = "dataloader"; }), "expected handing_over: ring");
  EXPECT_SAYS(refused([](Row& row) { row.device_file = "a100", row.core_images_per_s = 9; }),
              "expected core_images_per_s: 0");
}

}  // namespace harness::loader_program_test

// unit: The command new, in a project folder of its own, which RUN_MATRIX_HOME names.
#include "tests/support/program.h"

namespace harness::new_matrix_test {
namespace {

class NewMatrix : public Program {
 protected:
  void SetUp() override {
    fs::create_directories(home());
    for (const char* folder : {"configs", "plots"})
      fs::copy(fs::path(SOURCE_DIR) / folder, home() / folder, fs::copy_options::recursive);
  }
  fs::path home() const { return directory / "home"; }
  fs::path written() const { return home() / "configs" / "mine.yaml"; }
  int run_at_home(const std::vector<std::string>& arguments) {
    return run(arguments, {{"RUN_MATRIX_HOME", home()}});
  }
};

TEST_F(NewMatrix, IsAMatrixThatIsListedAndRuns) {
  ASSERT_EQ(run_at_home({"new", "mine"}), 0);
  EXPECT_NE(output().find("mine.yaml written"), std::string::npos) << output();
  EXPECT_NE(content_of(written()).find("title: mine"), std::string::npos);

  ASSERT_EQ(run_at_home({"list", written()}), 0);
  for (const char* row : {"plain", "threads", "grid-64-o0", "grid-64-bf16", "grid-128-o0"})
    EXPECT_NE(output().find(row), std::string::npos) << row << '\n' << output();

  ASSERT_EQ(run_at_home({written(), "--scale", "smoke", "--only", "plain,grid-64-o0,grid-128-bf16", "--set",
                         "storage=synthetic", "--out", directory / "run"}),
            0);
  std::map<std::string, std::string> status;
  for (const json& record : records_in("run")) status[record["row"]] = record["status"];
  EXPECT_EQ(status, (std::map<std::string, std::string>{
                        {"plain", "OK"}, {"grid-64-o0", "OK"}, {"grid-128-bf16", "SKIPPED"}}));
}

TEST_F(NewMatrix, NeverReplacesAFileOrLeavesTheFolder) {
  std::ofstream(written()) << "rows: {}\n";
  EXPECT_EQ(run_at_home({"new", "mine"}), 2);
  EXPECT_TRUE(says("exists already")) << errors();
  EXPECT_EQ(content_of(written()), "rows: {}\n");
  for (const char* name : {"../mine", ".mine", "a b", "-mine", ""}) {
    EXPECT_EQ(run_at_home({"new", "--", name}), 2) << name;
    EXPECT_TRUE(says("letters, digits")) << errors();
  }
  EXPECT_FALSE(fs::exists(home() / "mine.yaml"));
}

TEST_F(NewMatrix, NeedsAProjectFolder) {
  EXPECT_EQ(run({"list", "--fields", "--values"}), 2);
  EXPECT_TRUE(says("list prints one thing at a time"));
  EXPECT_EQ(run({"list"}, {{"RUN_MATRIX_HOME", directory / "none"}}), 2);
  EXPECT_TRUE(says("RUN_MATRIX_HOME: not the folder of run_matrix")) << errors();
  EXPECT_TRUE(says("configs/article.yaml")) << errors();
}

}  // namespace
}  // namespace harness::new_matrix_test

// unit: impossible options: hosts, files in place of folders, names that are too long. Each gives a
// one-sentence error and exit code 2, and nothing is started.
#include "harness/base/failure_text.h"
#include "harness/config/hosts.h"
#include "tests/support/program.h"

namespace harness::bad_options_test {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

TEST(Hosts, AreNamesWithAWholeNumberOfSlots) {
  for (const char* good : {"a", "a:4,b:4", "node-1.cluster:16", "10.0.0.1:2", "localhost"})
    EXPECT_EQ(hosts_problem(good), "") << good;
  const std::map<std::string, std::string> bad = {{"localhost:b", "'localhost:b'"},
                                                  {":-1", "':-1'"},
                                                  {"a:0", "'a:0'"},
                                                  {"a:", "'a:'"},
                                                  {",", "''"},
                                                  {"", "''"},
                                                  {"a:4,,b:4", "''"},
                                                  {"a:4,", "''"},
                                                  {"a:4 b:4", "'a:4 b:4'"},
                                                  {"-x", "'-x'"},
                                                  {"a:1.5", "'a:1.5'"},
                                                  {"a:99999999999", "'a:99999999999'"},
                                                  {"a:4,b:+4", "'b:+4'"}};
  for (const auto& [hosts, word] : bad) {
    EXPECT_TRUE(contains(hosts_problem(hosts), "found " + word)) << hosts << ": " << hosts_problem(hosts);
    EXPECT_TRUE(contains(hosts_problem(hosts), "expected")) << hosts_problem(hosts);
    EXPECT_TRUE(contains(hosts_problem(hosts), "--hosts a:4,b:4")) << hosts_problem(hosts);
  }
}

class BadOptions : public Program {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    std::ofstream(directory / name) << text;
    return directory / name;
  }
  // Runs the program with these arguments, expects exit code 2 and returns its error message.
  std::string refusal(const std::vector<std::string>& words) {
    EXPECT_EQ(run(words), 2) << words.front() << " " << words.back();
    EXPECT_FALSE(contains(errors(), "filesystem error")) << errors();
    return errors();
  }
};

TEST_F(BadOptions, AMistypedOptionGetsASuggestion) {
  EXPECT_TRUE(contains(refusal({"--onyl", "0"}), "--onyl: did you mean --only?")) << errors();
  EXPECT_TRUE(contains(refusal({"explain", "0", "--wthin=5m"}), "--wthin: did you mean --within?"))
      << errors();
  EXPECT_FALSE(contains(refusal({"--quite-another-word"}), "did you mean")) << errors();
}

TEST_F(BadOptions, ATimeIsANumberWithItsUnit) {
  for (const char* time : {"30", "3ms", "-3s", "s", "", "1e99h", "nanm"})
    EXPECT_TRUE(contains(refusal({std::string("--budget=") + time, "--dry-run"}),
                         "--budget: expected a number and its unit s, m or h"))
        << errors();
  EXPECT_EQ(run({"--budget", "1.5 h", "--only", "0", "--dry-run"}), 0) << errors();
  EXPECT_TRUE(says("budget 1.5 h"));
}

TEST_F(BadOptions, ADryRunLooksForTheFolderOfImages) {
  EXPECT_TRUE(contains(refusal({"--data", directory / "none", "--dry-run"}), "no such folder")) << errors();
}

TEST_F(BadOptions, AHostfileHasAHostOnEachLine) {
  EXPECT_EQ(hostfile_problem(write("good",
                                   "# nodes\nnode1 slots=4 max_slots=8\n\nuser@node2  slots=2 # fast\nnode3\n"
                                   "node4 slots = 4 max_slots= 8\r\n")),
            "");
  for (const auto& [text, found] : {std::pair("node1 slots=four\n", "'four'"),
                                    {"node1\nnode2 slots=0\n", ":2: "},
                                    {"node1 slots\n", "'slots'"},
                                    {"node1 4\n", "'4'"},
                                    {"node1 slots =\n", "'slots='"},
                                    {":4\n", "':4'"},
                                    {"# none\n\n", "names no host"}}) {
    const std::string problem = hostfile_problem(write("bad", text));
    EXPECT_TRUE(contains(problem, found)) << text << ": " << problem;
    EXPECT_TRUE(contains(problem, "slots=4")) << problem;
    EXPECT_TRUE(contains(problem, (directory / "bad").string())) << problem;
  }
  EXPECT_TRUE(contains(refusal({"--hostfile", directory / "bad", "--only", "12"}), "names no host"));
}

TEST_F(BadOptions, ABadHostIsNamedBeforeAnythingStarts) {
  for (const char* hosts : {"localhost:b", ":-1", "a:0", "a:", ","}) {
    const std::string said =
        refusal({"--hosts", hosts, "--only", "12", "--scale", "smoke", "--out", directory / "run"});
    EXPECT_TRUE(contains(said, "--hosts: expected")) << said;
    EXPECT_FALSE(fs::exists(directory / "run"));
  }
}

TEST_F(BadOptions, AFileInTheWayOfAFolderIsASentence) {
  const fs::path file = write("file", "");
  const std::string below = file / "run", longer = directory / std::string(300, 'x');
  for (const std::string& out : {file.string(), below, longer}) {
    const std::string said = refusal({"--only", "0", "--scale", "smoke", "--out", out});
    EXPECT_TRUE(contains(said, out)) << said;
  }
  for (const std::string& data : {file.string(), below, longer})
    EXPECT_TRUE(contains(refusal({"--only", "0", "--scale", "smoke", "--data", data}), data)) << errors();
  for (const char* command : {"report", "plot"})
    for (const std::string& run : {file.string(), below, longer})
      EXPECT_TRUE(contains(refusal({command, run}), run)) << errors();
  for (const std::string& history : {file.string(), below, longer})
    EXPECT_TRUE(contains(refusal({"history", "--history", history, "list"}), history)) << errors();
  for (const std::string& run : {file.string(), below, longer}) {
    EXPECT_TRUE(contains(refusal({"--resume", run}), run)) << errors();
    EXPECT_TRUE(contains(refusal({"compare", run, run}), run)) << errors();
    EXPECT_TRUE(contains(refusal({"validate", run, "--against", run}), run)) << errors();
  }
}

TEST_F(BadOptions, AResultThatHasNoFolderIsASentence) {
  const fs::path file = write("file", "");
  ASSERT_EQ(smoke_in("run", "0"), 0);
  const std::string run = directory / "run";
  const std::string said = refusal({"compare", run, run, "--write", file});
  EXPECT_TRUE(
      contains(said, file.string() + ": cannot create directories: Not a directory; expected a folder"))
      << said;
  fs::remove_all(directory / "run/plots");
  write("run/plots", "");
  EXPECT_TRUE(contains(refusal({"plot", run}), "run/plots: ")) << errors();
}

TEST_F(BadOptions, TheWordsOfTheStandardLibraryAreTranslated) {
  const fs::path file = write("file", "");
  std::string said;
  try {
    fs::create_directories(file / "below");
  } catch (const std::exception& error) {
    said = base::failure_text(error);
  }
  EXPECT_TRUE(
      contains(said, (file / "below").string() + ": cannot create directories: Not a directory; expected"))
      << said;
  const fs::path longer = directory / std::string(300, 'x');
  try {
    (void)fs::exists(longer);
  } catch (const std::exception& error) {
    said = base::failure_text(error);
  }
  EXPECT_EQ(said, longer.string() +
                      ": cannot be examined: File name too long; expected a name of at most 255 bytes: "
                      "choose a shorter one");
  EXPECT_EQ(base::failure_text(std::runtime_error("as it is")), "as it is");
}

}  // namespace harness::bad_options_test

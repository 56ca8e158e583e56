// unit: manners of the command line: JSON lists, options given twice, versions, completion, dumb terminals.
#include "tests/support/program.h"

namespace harness::command_line_test {

class TheCommandLine : public Program {
 protected:
  // What a program prints on stdout and stderr.
  static std::string said_by(const std::vector<std::string>& words) {
    base::Command command{words, {}, {}, {}, {}};
    command.errors_to_output = true;
    return base::run_to_end(command).output;
  }
};

TEST_F(TheCommandLine, EveryListHasAJsonForm) {
  for (const char* what : {"--values", "--fields", "--keys", "--metrics"}) {
    EXPECT_EQ(run({"list", what, "--json"}), 0) << errors();
    const json list = json::parse(output(), nullptr, false);
    EXPECT_FALSE(list.is_discarded()) << what << output();
    EXPECT_GT(list.size(), 5u) << what;
    EXPECT_EQ(run({"list", what}), 0);
    EXPECT_FALSE(json::accept(output())) << what << ": text without --json";
  }
  EXPECT_EQ(run({"list", "--fields", "--json"}), 0);
  for (const json& field : json::parse(output()))
    if (field["field"] == "read_rate") {
      EXPECT_EQ(field["range"], "0, 1 to 1000000000000");
    }
}

TEST_F(TheCommandLine, ValuesThatTheBuildKeptAreTakenUnlessTheProgramIsNewer) {
  const fs::path worker = directory / "worker", kept = directory / "worker.values.json";
  fs::copy_file(BINARY_DIR "/tests/fake_slice", worker);
  const auto listed = [&] {
    base::Command list = command({"list", "--values", "--json"});
    list.environment["RUN_MATRIX_WORKER"] = worker;
    EXPECT_EQ(exit_code_of(start(list)), 0) << errors();
    return json::parse(output(), nullptr, false);
  };
  const json asked = listed();
  json fewer = asked;
  fewer.erase("storage");
  std::ofstream(kept) << fewer;
  fs::last_write_time(kept, fs::last_write_time(worker));
  EXPECT_EQ(listed(), fewer);
  fs::last_write_time(kept, fs::last_write_time(worker) - std::chrono::seconds(1));
  EXPECT_EQ(listed(), asked);
}

TEST_F(TheCommandLine, RowsMayBeNamedInSeveralOptions) {
  EXPECT_EQ(run({"list", "--only", "0", "--only", "7,12", "--json"}), 0) << errors();
  EXPECT_EQ(json::parse(output(), nullptr, false).size(), 3u) << output();
  EXPECT_EQ(run({"list", "--only", "0", "--only", ""}), 2);
}

TEST_F(TheCommandLine, AnUnknownDeviceIsNamedAsItWasGiven) {
  EXPECT_EQ(run({"--device", "gpu", "--only", "0", "--dry-run"}), 2);
  EXPECT_TRUE(says("--device gpu: unknown value of 'device'")) << errors();
}

TEST_F(TheCommandLine, AMisspeltCommandIsNoMatrix) {
  EXPECT_EQ(run({"repot", "a-run"}), 2);
  EXPECT_TRUE(says("repot: no such command or file; did you mean report?")) << errors();
}

TEST_F(TheCommandLine, TheRowsOfARunAreNotThoseOfAMatrix) {
  EXPECT_EQ(run({"--resume", "a-run", "--list"}), 2);
  EXPECT_TRUE(says("--dry-run prints those of the run")) << errors();
}

TEST_F(TheCommandLine, ANumberThatMustBeAboveZeroIsSaidSo) {
  EXPECT_EQ(run({"feed", "--images-per-s", "0", "--", "python", "train.py"}), 2);
  EXPECT_TRUE(says("--images-per-s: expected a number above 0, found 0")) << errors();
}

TEST_F(TheCommandLine, EveryProgramTellsItsBuild) {
  for (const char* program : {"run_matrix", "make_dataset", "train_slice"}) {
    const fs::path path = fs::path(BINARY_DIR) / program;
    if (!fs::exists(path)) continue;  // train_slice, in a build without LibTorch
    const std::string said = said_by({path, "--version"});
    EXPECT_TRUE(json::parse(said, nullptr, false).contains("revision")) << program << ": " << said;
  }
}

TEST_F(TheCommandLine, ShellsComplete) {
  const std::string script = SOURCE_DIR "/scripts/completion.sh", program = BINARY_DIR "/run_matrix ";
  const auto completed = [&](const std::string& words, int place) {
    return said_by({"bash", "-c",
                    "source " + script + "; COMP_WORDS=(" + program + words + "); COMP_CWORD=" +
                        std::to_string(place) + "; _run_matrix; echo \"${COMPREPLY[*]}\""});
  };
  EXPECT_EQ(completed("expl", 1), "explain\n");
  EXPECT_EQ(completed("--oversub", 1), "--oversubscribe\n");
  EXPECT_EQ(completed("explain 7 --withi", 3), "--within\n");
  EXPECT_EQ(completed("explain 7 --oversub", 3), "--oversubscribe\n") << "an option of every run";
  EXPECT_EQ(completed("list --withi", 2), "\n") << "an option of another command";
  if (base::program_exists("zsh")) {
    EXPECT_EQ(said_by({"zsh", "-c", "source " + script + "; echo ${_comps[run_matrix]}"}),
              "_bash_complete -o default -F _run_matrix\n");
  }
}

TEST_F(TheCommandLine, ADumbTerminalGetsNoEscapeSequences) {
  if (!base::program_exists("script")) GTEST_SKIP() << "no script, which makes a terminal: package bsdutils";
  const auto on_terminal = [&](const char* name) {
    fs::remove_all(directory / "run");
    base::Command inner =
        command({"--scale", "smoke", "--only", "0", "--set", "storage=synthetic", "--out", directory / "run"},
                {{"TERM", name}});
    inner.arguments = {"script", "-qec", base::shell_line({inner.arguments, {}, {}, {}, {}}), "/dev/null"};
    EXPECT_EQ(exit_code_of(start(inner)), 0);
    return output();
  };
  EXPECT_NE(on_terminal("xterm").find("\x1b["), std::string::npos);
  EXPECT_EQ(on_terminal("dumb").find('\x1b'), std::string::npos) << output();
}

}  // namespace harness::command_line_test

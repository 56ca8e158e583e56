// fleet submit: the commands that start tonight's nights on a cluster, printed or run.
#include <fmt/format.h>
#include <fmt/ostream.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <set>
#include <sstream>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/scratch.h"
#include "harness/commands/command_line.h"

namespace harness {
namespace {

struct Submission {
  fs::path history;
  std::string partition, nightly, limit = "04:00:00", deadline = "12hours";
  bool slurm = false, now = false;
};

struct Nodes {
  std::vector<std::string> usable, left_out;  // left_out: with their state
};

const std::set<std::string> kUsable = {"idle", "alloc", "mix", "comp", "resv", "plnd"};

// A node of several partitions is listed once per partition.
Nodes nodes_of(const std::string& partition) {
  if (!base::program_exists("sinfo") || !base::program_exists("sbatch"))
    throw PreparationError("sinfo and sbatch are missing: run this on a host that can submit to Slurm");
  base::Command command{{"sinfo", "--noheader", "--Node", "--format=%N %t"}};
  if (!partition.empty()) command.arguments.push_back("--partition=" + partition);
  const base::Finished finished = base::run_to_end(command);
  if (finished.exit_code != 0)  // the reason is on stderr
    throw PreparationError(
        fmt::format("sinfo {}; is Slurm's controller reachable?", base::ended_in_words(finished.exit_code)));
  std::map<std::string, std::string> states;
  std::istringstream lines(finished.output);
  for (std::string name, state; lines >> name >> state;) states[name] = state;
  Nodes nodes;
  for (const auto& [name, state] : states) {
    // Powered down or up, planned: Slurm can give it to a job, unlike one that doesn't respond (*).
    const std::string plain = state.substr(0, state.find_last_not_of("~#%-") + 1);
    const bool usable = kUsable.contains(plain);
    (usable ? nodes.usable : nodes.left_out).push_back(usable ? name : name + " (" + state + ")");
  }
  if (nodes.usable.empty())
    throw PreparationError(fmt::format(
        "no usable node{}: {}; `sinfo` lists partitions and nodes",
        partition.empty() ? "" : " in partition " + partition,
        nodes.left_out.empty() ? "there is none" : fmt::format("{}", fmt::join(nodes.left_out, ", "))));
  return nodes;
}

// An array has no node for each of its tasks, so it is held until every task has got one. A task whose node
// doesn't become free is removed at the deadline, so that the report starts in any case.
std::string script_of(const Submission& asked, const Nodes& nodes, const fs::path& project) {
  const std::string history = fs::absolute(asked.history).string(),
                    program = (project / "run_matrix").string();
  std::istringstream words(asked.nightly);
  std::vector<std::string> nightly = {program, "--no-install", "nightly", "--history", history};
  for (std::string word; words >> word;) nightly.push_back(word);
  std::vector<std::string> usual = {"sbatch", "--parsable", "--chdir=" + project.string()};
  if (!asked.partition.empty()) usual.push_back("--partition=" + asked.partition);
  const auto sbatch = [&](std::vector<std::string> more, const std::vector<std::string>& command) {
    more.insert(more.begin(), usual.begin(), usual.end());
    more.push_back("--wrap=" + base::shell_line({command}));
    return base::shell_line({more});
  };
  const std::string array =
      sbatch({"--job-name=run-matrix-night", fmt::format("--array=0-{}", nodes.usable.size() - 1), "--hold",
              "--nodes=1", "--exclusive", "--requeue", "--time=" + asked.limit,
              "--deadline=now+" + asked.deadline, "--output=" + history + "/slurm/night-%A_%a.txt"},
             nightly);
  // The report is one task of one core; it needs no node of its own.
  const std::string report = sbatch({"--job-name=run-matrix-fleet", "--nodes=1", "--ntasks=1",
                                     "--time=00:30:00", "--output=" + history + "/slurm/fleet-%j.txt"},
                                    {program, "--no-install", "fleet", history});
  std::string text = fmt::format("#!/usr/bin/env bash\n# A night on {} nodes", nodes.usable.size());
  if (!nodes.left_out.empty()) text += fmt::format("; left out: {}", fmt::join(nodes.left_out, ", "));
  // What was submitted when a later line fails would be held for ever.
  return text + fmt::format(R"sh(
set -euo pipefail
mkdir -p {}
job=$({})
trap 'scancel "$job"' ERR
nodes=({})
for i in "${{!nodes[@]}}"; do scontrol update "JobId=${{job}}_$i" "ReqNodeList=${{nodes[$i]}}"; done
scontrol release "$job"
report=$({} --dependency="afterany:$job")
echo "job array $job: a night on each of ${{#nodes[@]}} nodes; job $report reports"
)sh",
                            base::shell_line({{history + "/slurm"}}), array, base::shell_line({nodes.usable}),
                            report);
}

int submit(const Installation& installation, const Submission& asked) {
  if (!asked.slurm)
    throw PreparationError("fleet submit: name the scheduler: --slurm (for Kubernetes see docs/fleet.md)");
  base::make_folder(asked.history);
  if (::access(asked.history.c_str(), W_OK) != 0)
    throw PreparationError(fmt::format("{}: {}; name a folder that all nodes can write to",
                                       asked.history.string(), std::strerror(errno)));
  const std::string script = script_of(asked, nodes_of(asked.partition), installation.project);
  if (!asked.now) {
    std::cout << script;
    return base::kAllGood;
  }
  const base::Scratch folder;
  base::write_whole_file(folder.path() / "submit.sh", script, /*durable=*/false);
  const base::Finished finished = base::run_to_end({{"bash", folder.path() / "submit.sh"}});
  std::cout << finished.output;
  if (finished.exit_code != 0)
    fmt::print(std::cerr,
               "run_matrix: the night was not submitted as a whole: bash {}; `squeue --me` shows what was\n",
               base::ended_in_words(finished.exit_code));
  return finished.exit_code == 0 ? base::kAllGood : base::kRowFailed;
}

}  // namespace

void add_fleet_submit(CommandLine& line, CLI::App& fleet) {
  const auto asked = std::make_shared<Submission>();
  CLI::App* command = fleet.add_subcommand(
      "submit",
      "print the commands that run a night on each node of a cluster and report when all have ended");
  command->add_option("history", asked->history, "folder that all nodes can write to")->required();
  command->add_flag("--slurm", asked->slurm, "a job array with one task per node, and a job after it");
  command->add_flag("--now", asked->now, "run the commands instead of printing them");
  command->add_option("--partition", asked->partition, "of Slurm (default: the nodes of all)");
  command->add_option("--nightly", asked->nightly,
                      "options of nightly, e.g. \"--only 0,7 --tag driver-580\"");
  command->add_option("--limit", asked->limit, "time limit of a night, as sbatch --time takes it")
      ->capture_default_str();
  command
      ->add_option("--deadline", asked->deadline,
                   "from now on, when nights that could not start are given up")
      ->capture_default_str();
  line.set_action(command,
                  [asked](const Installation& installation) { return submit(installation, *asked); });
}

}  // namespace harness

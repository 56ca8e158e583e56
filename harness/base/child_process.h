// Starting other programs: the ranks of a row, make_dataset, the plot renderer. No library: reproc, the
// well-maintained candidate, cannot pin cores, pass a listening socket to the child, or end the child with
// this process (PR_SET_PDEATHSIG).
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace base {

struct Command {
  std::vector<std::string> arguments;                   // program name first
  std::map<std::string, std::string> environment = {};  // added to this process's environment
  std::vector<int> cpus = {};                           // cores it may use; empty: all cores of this process
  std::filesystem::path output = {}, errors = {};       // files for stdout and stderr; empty: inherited
  int passed_fd = -1;                     // descriptor that stays open in the child, same number
  int input_fd = -1, output_fd = -1;      // descriptors that become its stdin and stdout
  bool errors_to_output = false;          // stderr goes where stdout goes
  std::vector<std::string> without = {};  // variables of this process's environment that it doesn't get
};

// Puts a library before those that the command (or this process's LD_PRELOAD) already loads first.
void preload(Command& command, const std::string& library);

// The command as a line for a shell, with environment variables and core limit.
std::string shell_line(const Command& command);

// Starts the command in a new process group. The kernel kills it when this process dies. Throws
// std::runtime_error when it can't be started.
pid_t start(const Command& command);

// Starts the commands in one session of their own, each in a process group of its own, as children of this
// process. Kernels with autogroups (Linux's default) give each session an equal share of the cores, so that
// threads of low priority in one command yield to the other commands and not to programs of other sessions.
// Throws as start(), after killing those that have started.
std::vector<pid_t> start_in_session(const std::vector<Command>& commands);

bool program_exists(const std::string& name);  // in PATH

struct Finished {
  int exit_code = 0;  // 128 + signal number when a signal ended it
  std::string output;
};
// The exit code of a child that has ended, which can still be waited for; empty if it runs. `wait`: until it
// ends.
std::optional<int> exit_code_of_child(pid_t pid, bool wait);
std::string ended_in_words(int exit_code);  // `was ended by signal 9 (Killed)`, or `ended with exit code 3`
// Waits until the command ends and returns its stdout; stderr is inherited. Throws std::runtime_error where
// it can't be started or read. Sends SIGTERM after `interrupts_to_end` interrupts (interrupt.h): a program
// that writes reports passes 2, because the first interrupt only ends the rows.
Finished run_to_end(Command command, int interrupts_to_end = 1);

}  // namespace base

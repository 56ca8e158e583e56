// Starting other programs: the ranks of a row, make_dataset, the plot renderer.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace base {

struct Command {
  std::vector<std::string> arguments;              // the program first
  std::map<std::string, std::string> environment;  // added to our own
  std::vector<int> cpus;                           // cores it may use; empty: all of ours
  std::filesystem::path output, errors;            // files for stdout and stderr; empty: inherited
  int passed_fd = -1;                              // stays open in the child under the same number
  int input_fd = -1, output_fd = -1;               // become its stdin and stdout
  bool errors_to_output = false;                   // stderr goes where stdout goes
};

// As one would type it, environment and core limit included.
std::string shell_line(const Command& command);

// Starts it in a process group of its own; it is killed when this process dies, however that happens.
// Throws std::runtime_error when the program can't be started.
pid_t start(const Command& command);

bool program_exists(const std::string& name);  // in PATH

struct Finished {
  int exit_code = 0;  // 128 + signal when a signal ended it
  std::string output;
};
// Runs it to its end and returns its stdout; stderr goes where ours goes. Ends it when this program has had
// that many interrupts (interrupt.h): programs that report about the rows outlive the one that ended the
// rows.
Finished run_to_end(Command command, int interrupts_to_end = 1);

}  // namespace base

// Uses fork and exec; the child reports a failed exec through a pipe that a successful one closes.
#include "harness/base/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/scratch.h"

namespace base {

static std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                              "-_./=:,+%@") == std::string::npos)
    return word;
  std::string text = "'";
  for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// ld.so divides the list at blanks and colons, which it knows no way to quote: a link without them stands for
// such a path.
static std::string without_separators(const std::filesystem::path& library) {
  if (library.string().find_first_of(" :\t\n") == std::string::npos) return library;
  const std::string name =
      fmt::format("{:x}-{}", std::hash<std::string>()(library), library.filename().string());
  const std::filesystem::path link = private_folder(std::filesystem::temp_directory_path()) / name;
  std::error_code there_already;
  std::filesystem::create_symlink(library, link, there_already);
  return link;
}

void preload(Command& command, const std::string& library_file) {
  const std::string library = without_separators(library_file);
  const char* ours = std::getenv("LD_PRELOAD");
  std::string& all = command.environment["LD_PRELOAD"];
  if (all.empty() && ours) all = ours;
  all = all.empty() ? library : library + ":" + all;
}

std::string shell_line(const Command& command) {
  std::string line;
  for (const auto& [name, value] : command.environment) line += name + "=" + quoted(value) + " ";
  if (!command.cpus.empty()) line += fmt::format("taskset -c {} ", fmt::join(command.cpus, ","));
  for (bool first = true; const std::string& name : command.without)
    if (std::getenv(name.c_str())) line += (std::exchange(first, false) ? "env -u " : "-u ") + name + " ";
  for (const std::string& argument : command.arguments) line += quoted(argument) + " ";
  line.pop_back();
  return line;
}

static bool redirect(const std::filesystem::path& file, int to) {
  if (file.empty()) return true;
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  return fd >= 0 && ::dup2(fd, to) >= 0 && ::close(fd) == 0;
}

// What a child that could not become its program writes in one piece into a pipe that exec closes.
struct NotBecome {
  size_t command;
  int error;
};

// The next value from a pipe; false at its end.
template <typename Value>
static bool next(const Descriptor& pipe, Value& value) {
  for (size_t have = 0; have < sizeof value;) {
    const ssize_t bytes = ::read(pipe.number(), reinterpret_cast<char*>(&value) + have, sizeof value - have);
    if (bytes == 0) return false;
    if (bytes < 0 && errno != EINTR)
      throw std::runtime_error(
          fmt::format("whether a process started can't be read: {}", std::strerror(errno)));
    have += bytes > 0 ? size_t(bytes) : 0;
  }
  return true;
}

// Runs in the child, between fork and exec.
static void become(const Command& command, pid_t parent, int failure_fd, size_t number = 0) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(126);  // the parent died before the line above
  for (int one : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ}) signal(one, SIG_DFL);
  const auto fail = [&] {
    const NotBecome failure{number, errno};
    [[maybe_unused]] const ssize_t written = ::write(failure_fd, &failure, sizeof failure);
    ::_exit(127);
  };
  if (!redirect(command.output, STDOUT_FILENO) || !redirect(command.errors, STDERR_FILENO)) fail();
  if (command.input_fd >= 0) ::dup2(command.input_fd, STDIN_FILENO);
  if (command.output_fd >= 0) ::dup2(command.output_fd, STDOUT_FILENO);
  if (command.errors_to_output) ::dup2(STDOUT_FILENO, STDERR_FILENO);
  if (command.passed_fd >= 0) ::fcntl(command.passed_fd, F_SETFD, 0);
  for (const std::string& name : command.without) ::unsetenv(name.c_str());
  for (const auto& [name, value] : command.environment) ::setenv(name.c_str(), value.c_str(), 1);
  if (!command.cpus.empty()) {
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int cpu : command.cpus) CPU_SET(cpu, &set);
    ::sched_setaffinity(0, sizeof set, &set);
  }
  std::vector<char*> arguments;
  for (const std::string& argument : command.arguments)
    arguments.push_back(const_cast<char*>(argument.c_str()));
  arguments.push_back(nullptr);
  ::execvp(arguments[0], arguments.data());
  fail();
}

[[noreturn]] static void throw_not_started(const std::string& what, int error) {
  throw std::runtime_error(fmt::format("{}: can't be started: {}", what, std::strerror(error)));
}

static int exit_code_of(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::vector<pid_t> start_in_session(const std::vector<Command>& commands) {
  // For all of them: a thousand ranks need no more descriptors than one.
  Pipe pids("a row: can't be started"), failures("a row: can't be started");
  const pid_t own = ::getpid(), leader = ::fork();
  if (leader < 0) throw_not_started("another process", errno);
  if (leader == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::setsid();
    for (size_t i = 0; i < commands.size(); ++i) {
      // As fork(), but the new process is a child of this program and not of the leader.
      const pid_t pid =
          pid_t(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
      if (pid == 0) become(commands[i], own, failures.write.number(), i);
      const NotBecome failure{i, errno};
      if (pid < 0 && ::write(failures.write.number(), &failure, sizeof failure) < 0) ::_exit(1);
      if (::write(pids.write.number(), &pid, sizeof pid) < 0) ::_exit(1);
    }
    ::_exit(0);
  }
  pids.write = Descriptor();
  failures.write = Descriptor();
  int status = 0;
  ::waitpid(leader, &status, 0);
  std::vector<pid_t> started;
  for (pid_t pid; next(pids.read, pid);)
    if (pid > 0) started.push_back(pid);
  NotBecome first{commands.size(), 0};
  for (NotBecome one; next(failures.read, one);)
    if (one.command <= first.command) first = one;
  if (first.error == 0 && started.size() == commands.size()) return started;
  for (const pid_t pid : started) ::kill(pid, SIGKILL), ::waitpid(pid, nullptr, 0);
  if (first.error != 0) throw_not_started(commands[first.command].arguments[0], first.error);
  throw std::runtime_error(fmt::format("{} of {} processes can't be started: the process that starts them {}",
                                       commands.size() - started.size(), commands.size(),
                                       ended_in_words(exit_code_of(status))));
}

pid_t start(const Command& command) {
  Pipe failure;
  const pid_t parent = ::getpid(), pid = ::fork();
  if (pid < 0) throw std::runtime_error(fmt::format("can't start another process: {}", std::strerror(errno)));
  if (pid == 0) become(command, parent, failure.write.number());
  ::setpgid(pid, pid);
  failure.write = Descriptor();
  NotBecome failed;
  if (!next(failure.read, failed)) return pid;
  ::waitpid(pid, nullptr, 0);
  throw_not_started(command.arguments[0], failed.error);
}

bool program_exists(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (::access((folder + "/" + name).c_str(), X_OK) == 0) return true;
  return false;
}

std::optional<int> exit_code_of_child(pid_t pid, bool wait) {
  siginfo_t end{};
  int error = 0;
  do error = ::waitid(P_PID, id_t(pid), &end, WEXITED | WNOWAIT | (wait ? 0 : WNOHANG));
  while (error != 0 && errno == EINTR);
  if (error != 0 || end.si_pid != pid) return std::nullopt;
  return end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status;
}

std::string ended_in_words(int exit_code) {
  const int signal = exit_code - 128;
  return signal > 0 ? fmt::format("was ended by signal {} ({})", signal, ::strsignal(signal))
                    : fmt::format("ended with exit code {}", exit_code);
}

Finished run_to_end(Command command, int interrupts_to_end) {
  Pipe output;
  command.output_fd = output.write.number();
  const pid_t pid = start(command);
  output.write = Descriptor();
  Finished finished;
  char buffer[65536];
  bool stopping = false;
  int unreadable = 0;
  for (;;) {
    pollfd readable{output.read.number(), POLLIN, 0};
    const int ready = ::poll(&readable, 1, 200);  // notices an interrupt just before it within 200 ms
    if (interrupts() >= interrupts_to_end && !stopping) {
      ::kill(-pid, SIGTERM);  // not SIGINT: Python would print a traceback
      stopping = true;
    }
    if (ready <= 0) continue;
    const ssize_t bytes = ::read(output.read.number(), buffer, sizeof buffer);
    if (bytes > 0) finished.output.append(buffer, size_t(bytes));
    if (bytes < 0 && errno != EINTR) unreadable = errno;
    if (bytes == 0 || unreadable != 0) break;
  }
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR)
    if (interrupts() >= interrupts_to_end) ::kill(-pid, SIGTERM);
  if (unreadable != 0)
    throw std::runtime_error(
        fmt::format("{}: its output can't be read: {}", command.arguments[0], std::strerror(unreadable)));
  finished.exit_code = exit_code_of(status);
  return finished;
}

}  // namespace base

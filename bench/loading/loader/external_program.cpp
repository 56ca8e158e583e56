// Waits for bytes in the program's pipe or for its end.
#include "bench/loading/loader/external_program.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>
#include <utility>

#include "bench/loading/loader/loader.h"
#include "harness/base/child_process.h"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kFarewell = std::chrono::seconds(3);  // for workers of the adapter to end by themselves
constexpr auto kStackTime = std::chrono::milliseconds(300);

base::Descriptor opened(int descriptor) {
  if (descriptor < 0)
    throw std::runtime_error(fmt::format("an external loader's program: {}", std::strerror(errno)));
  return base::Descriptor(descriptor);
}

// The end to read from and the end to write to.
std::pair<base::Descriptor, base::Descriptor> make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) opened(-1);
  return {base::Descriptor(ends[0]), base::Descriptor(ends[1])};
}

}  // namespace

ExternalProgram::ExternalProgram(ExternalProgramOptions options) : options_(std::move(options)) {
  auto [free_end, free] = make_pipe();
  auto [full, full_end] = make_pipe();
  base::Command command;
  command.arguments = options_.command;
  command.environment["RING_JOB"] = options_.folder / "job.json";
  command.input_fd = free_end.number();
  command.output_fd = full_end.number();
  command.passed_fd = options_.memory_fd;
  // What the row sets for its ranks' allocator isn't for other programs.
  command.without = {"LD_PRELOAD", "MALLOC_ARENA_MAX", "MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_MAX_"};
  pid_ = base::start(command);
  ended_ = opened(int(::syscall(SYS_pidfd_open, pid_, 0)));
  free_ = std::move(free);
  full_ = std::move(full);
}

ExternalProgram::~ExternalProgram() {
  free_ = base::Descriptor();  // ring.py ends when it asks for a slot, and lets the adapter end its workers
  full_ = base::Descriptor();
  pollfd ended{ended_.number(), POLLIN, 0};
  ::poll(&ended, 1, int(std::chrono::milliseconds(kFarewell).count()));
  ::kill(-pid_, SIGKILL);  // the whole process group
  ::waitpid(pid_, nullptr, 0);
}

void ExternalProgram::tell(const std::string& words) {
  [[maybe_unused]] const ssize_t written = ::write(free_.number(), words.data(), words.size());
}

int ExternalProgram::ready_batches() const {
  int bytes = 0;
  ::ioctl(full_.number(), FIONREAD, &bytes);
  return bytes;
}

std::string ExternalProgram::who() const {
  std::string words;
  for (const std::string& word : options_.command)
    if (!word.ends_with("/ring.py")) words += (words.empty() ? "" : " ") + word;
  return fmt::format("external loader `{}`", words);
}

void ExternalProgram::wait_for(char word, double limit_s, const std::string& what) {
  const auto until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limit_s));
  for (;;) {
    pollfd sources[2] = {{full_.number(), POLLIN, 0}, {ended_.number(), POLLIN, 0}};
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0)
      throw LoaderHangs(fmt::format("{} was waited {:g} s {}; {}", who(), limit_s, what, stack()));
    if (::poll(sources, 2, int(std::min<int64_t>(left, 1 << 30))) < 0) continue;
    char said = 0;
    if ((sources[0].revents & POLLIN) && ::read(full_.number(), &said, 1) == 1) {
      if (said != word) fail(said);
      batches_ += word == 'B';
      return;
    }
    if (sources[0].revents | sources[1].revents) throw_ended();
  }
}

void ExternalProgram::fail(char word) {
  if (word == 'N')
    throw BadDataset(fmt::format("{}: the adapter ended after {} batches; expected {}, which the row takes",
                                 who(), batches_, options_.batches));
  if (word != 'U' && word != 'E')
    throw std::runtime_error(
        who() + " wrote something unexpected; next: begin the command with a Python, which runs ring.py");
  std::string text;
  char part[4096];
  for (ssize_t size; (size = ::read(full_.number(), part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(size));
  if (word == 'U') throw BadDataset(fmt::format("{}: {}", who(), text));
  throw std::runtime_error(fmt::format("{}: {}", who(), text));
}

void ExternalProgram::throw_ended() const {
  const int code = base::exit_code_of_child(pid_, /*wait=*/true).value_or(0);
  throw std::runtime_error(
      fmt::format("{} {} after {} batches; next: the row's rank-{}.stderr has its last words", who(),
                  base::ended_in_words(code), batches_, options_.rank));
}

// Where the program's main thread is, from Python's faulthandler.
std::string ExternalProgram::stack() const {
  ::kill(pid_, SIGUSR2);
  std::this_thread::sleep_for(kStackTime);
  std::ifstream file(options_.folder / "stack");
  std::vector<std::string> places;
  bool main_thread = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("Current thread") || line.starts_with("Thread"))
      main_thread = line.starts_with("Current");
    const size_t at = line.find("File ");
    if (main_thread && at != line.npos && places.size() < 3) places.push_back(line.substr(at + 5));
  }
  return places.empty() ? "it tells no place"
                        : fmt::format("it is in {}", fmt::join(places, ", called from "));
}

}  // namespace bench

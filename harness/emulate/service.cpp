// Starts the program in a process group, waits until it is ready, and kills the group at the end.
#include "harness/emulate/service.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "harness/base/file.h"
#include "harness/base/interrupt.h"

namespace harness {

constexpr auto kLongestStart = std::chrono::seconds(20);
constexpr auto kServicePoll = std::chrono::milliseconds(20);

Service::Service(std::string name, base::Command command, const std::filesystem::path& log)
    : name_(std::move(name)), log_(log) {
  command.output = log_;
  command.errors_to_output = true;
  pid_ = start(command);
}

Service::~Service() {
  ::kill(-pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

std::string Service::last_words() const {
  const std::string words = base::last_lines(log_, 1, "");
  return words.empty() ? "" : fmt::format("; its last output: {}", words);
}

std::string Service::why_ended() {
  const auto code = base::exit_code_of_child(pid_, /*wait=*/false);
  return code ? fmt::format("{} {}{}", name_, base::ended_in_words(*code), last_words()) : "";
}

void Service::wait_until(const std::function<bool()>& ready) {
  const auto begin = std::chrono::steady_clock::now();
  while (!ready()) {
    if (const std::string ended = why_ended(); !ended.empty()) throw std::runtime_error(ended);
    base::stop_if_interrupted();
    if (std::chrono::steady_clock::now() - begin > kLongestStart)
      throw std::runtime_error(fmt::format("{} was not ready after {} s{}; its log: {}", name_,
                                           kLongestStart.count(), last_words(), log_.string()));
    std::this_thread::sleep_for(kServicePoll);
  }
}

}  // namespace harness

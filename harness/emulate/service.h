// A program that runs beside a row's ranks, for as long as this object lives.
#pragma once
#include <functional>
#include <string>

#include "harness/base/child_process.h"

namespace harness {

class Service {
 public:
  // name: what messages call it. What it prints goes to `log`. Throws std::runtime_error when it can't be
  // started.
  Service(std::string name, base::Command command, const std::filesystem::path& log);
  ~Service();  // ends it and what it has started
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  pid_t pid() const { return pid_; }
  // Returns once ready() is true. Throws std::runtime_error with the program's own words when it ends before,
  // and after 20 s, or on Ctrl-C.
  void wait_until(const std::function<bool()>& ready);
  // How it ended, and its last words; empty while it runs.
  std::string why_ended();

 private:
  std::string last_words() const;

  std::string name_, end_;
  std::filesystem::path log_;
  pid_t pid_ = 0;
  bool running_ = true;
};

}  // namespace harness

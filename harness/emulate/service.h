// A background program for a row's ranks, which runs until this object is destroyed.
#pragma once
#include <functional>
#include <string>

#include "harness/base/child_process.h"

namespace harness {

class Service {
 public:
  // `name`: its name in messages. `log`: file for its stdout and stderr. Throws std::runtime_error when it
  // can't be started.
  Service(std::string name, base::Command command, const std::filesystem::path& log);
  ~Service();  // kills its process group
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  pid_t pid() const { return pid_; }
  // Waits until ready() is true. Throws std::runtime_error with the program's last output when it ends
  // before, after 20 s, or on Ctrl-C.
  void wait_until(const std::function<bool()>& ready);
  // How it ended, with its last output; empty while it runs.
  std::string why_ended();

 private:
  std::string last_words() const;

  std::string name_;
  std::filesystem::path log_;
  pid_t pid_ = 0;
};

}  // namespace harness

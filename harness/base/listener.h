// A listening socket that rank 0 inherits, so that no other process can take the port before rank 0 uses it.
#pragma once
#include "harness/base/file.h"

namespace base {

class Listener {
 public:
  // port 0: the kernel chooses one. Listens on the loopback interface, or on all interfaces for ranks on
  // other machines. Throws std::runtime_error when it can't listen on the port.
  Listener(int port, bool every_interface);
  int fd() const { return descriptor_.number(); }
  int port() const { return port_; }

 private:
  Descriptor descriptor_;
  int port_ = 0;
};

// Whether processes of this machine can connect to each other; binding works also where they can't.
bool loopback_is_up();

}  // namespace base

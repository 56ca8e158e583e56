// A listening socket that rank 0 inherits, so that no other process can take the port before rank 0 uses it.
#pragma once

namespace base {

class Listener {
 public:
  // port 0: the kernel chooses one. Listens on the loopback interface, or on all interfaces for ranks on
  // other machines. Throws std::runtime_error when it can't listen on the port.
  Listener(int port, bool every_interface);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int fd() const { return fd_; }
  int port() const { return port_; }

 private:
  int fd_ = -1, port_ = 0;
};

// Whether processes of this machine can connect to each other; binding works also where they can't.
bool loopback_is_up();

}  // namespace base

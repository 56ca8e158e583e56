// A listening socket for rank 0 to take over, so that no other process can grab its port.
#pragma once

namespace base {

class Listener {
 public:
  // port 0: one of the kernel's choice. On the loopback interface, or on every one when ranks on other
  // machines are to reach it. Throws std::runtime_error when the port is taken.
  Listener(int port, bool every_interface);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  int fd() const { return fd_; }
  int port() const { return port_; }

 private:
  int fd_ = -1, port_ = 0;
};

}  // namespace base

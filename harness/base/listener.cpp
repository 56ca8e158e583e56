// Binds a TCP socket over IPv4, and tests the loopback interface without sending anything.
#include "harness/base/listener.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

namespace base {

Listener::Listener(int port, bool every_interface) {
  descriptor_ = Descriptor(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  if (fd() >= 0)
    ::setsockopt(fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);  // the next row may use the same port
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(every_interface ? INADDR_ANY : INADDR_LOOPBACK);
  address.sin_port = htons(uint16_t(port));
  socklen_t size = sizeof address;
  if (fd() < 0 || ::bind(fd(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(fd(), 1024) != 0 || ::getsockname(fd(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error(
        fmt::format("rank 0 can't listen on port {}: {}; {}", port, std::strerror(errno),
                    port ? "choose another port (--port, or MASTER_PORT)" : "try again"));
  port_ = ntohs(address.sin_port);
}

bool loopback_is_up() {
  const Descriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(9);  // connecting a datagram socket sends nothing, and fails without a route
  return socket.number() >= 0 &&
         ::connect(socket.number(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace base

// Preloaded (LD_PRELOAD) into mpirun, orted and ranks: binds stream sockets only to the address in
// LISTEN_ADDRESS instead of to all interfaces. OpenMPI's oob_tcp_if_include and btl_tcp_if_include only
// choose which addresses are announced; its sockets still listen on all interfaces.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <cstring>

static bool is_stream(int socket) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(socket, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

// The IPv4-mapped IPv6 address, for a socket that serves both families.
static in6_addr mapped(in_addr address) {
  in6_addr six{};
  six.s6_addr[10] = six.s6_addr[11] = 0xff;
  std::memcpy(six.s6_addr + 12, &address, sizeof address);
  return six;
}

extern "C" int bind(int socket, const sockaddr* address, socklen_t size) noexcept {
  using Bind = int (*)(int, const sockaddr*, socklen_t);
  static const auto next = reinterpret_cast<Bind>(::dlsym(RTLD_NEXT, "bind"));
  const char* wanted = std::getenv("LISTEN_ADDRESS");
  in_addr four{};
  if (!wanted || ::inet_pton(AF_INET, wanted, &four) != 1 || !is_stream(socket))
    return next(socket, address, size);
  if (address->sa_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in changed;
    std::memcpy(&changed, address, sizeof changed);
    if (changed.sin_addr.s_addr == htonl(INADDR_ANY)) changed.sin_addr = four;
    return next(socket, reinterpret_cast<const sockaddr*>(&changed), sizeof changed);
  }
  if (address->sa_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 changed;
    std::memcpy(&changed, address, sizeof changed);
    int six_only = 0;
    socklen_t length = sizeof six_only;
    ::getsockopt(socket, IPPROTO_IPV6, IPV6_V6ONLY, &six_only, &length);
    if (std::memcmp(&changed.sin6_addr, &in6addr_any, sizeof in6addr_any) == 0)
      changed.sin6_addr = six_only ? in6addr_loopback : mapped(four);
    return next(socket, reinterpret_cast<const sockaddr*>(&changed), sizeof changed);
  }
  return next(socket, address, size);
}

// none: all devices are in one node; collectives use shared memory or the loopback interface.
#include "bench/train/link/link.h"

namespace bench {

static const bool registered_link_none = LinkRegistry::instance().add(
    {"link", "none", "one node, processes communicate over loopback"}, [](const LinkOptions&) {
      return Link{"lo", [] { return std::optional<LinkBytes>(); }};
    });

}  // namespace bench

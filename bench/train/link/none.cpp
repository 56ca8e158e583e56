// none: all devices are in one node; collectives use shared memory or the loopback interface.
#include "bench/train/link/link.h"

namespace bench {
namespace {

class None : public Link {
 public:
  std::string interface() const override { return "lo"; }
  std::optional<LinkBytes> bytes() const override { return std::nullopt; }
};

const bool registered_link_none =
    LinkRegistry::instance().add({"link", "none", "one node, processes communicate over loopback"},
                                 [](const LinkOptions&) { return std::make_unique<None>(); });

}  // namespace
}  // namespace bench

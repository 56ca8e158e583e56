// none: one process, no communication.
#include "bench/train/backend/group.h"

namespace bench {
namespace {

class Alone : public Group {
 public:
  void barrier() override {}
  std::vector<std::string> gather(const std::string& text) override { return {text}; }
};

const bool registered_backend_none =
    GroupRegistry::instance().add({"backend", "none", "one process, no collectives between processes"},
                                  [](const GroupOptions&) { return std::make_unique<Alone>(); });

}  // namespace
}  // namespace bench

// c10d's front to a backend, as strategies and the Reducer take it.
#pragma once
#include <memory>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include "bench/backend/traced_backend.h"

namespace bench {

inline c10::intrusive_ptr<c10d::ProcessGroup> make_process_group(
    const c10::intrusive_ptr<c10d::Store>& store, const c10::intrusive_ptr<c10d::Backend>& backend,
    const std::shared_ptr<Traffic>& traffic, const std::string& name) {
  constexpr auto kind = c10d::ProcessGroup::BackendType::CUSTOM;
  auto group = c10::make_intrusive<c10d::ProcessGroup>(store, backend->getRank(), backend->getSize());
  group->setBackend(at::kCPU, kind, c10::make_intrusive<TracedBackend>(backend, traffic));
  group->setDefaultBackend(kind);
  group->setGroupName(name);
  return group;
}

}  // namespace bench

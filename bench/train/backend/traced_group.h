// Base class of all groups with several processes: two traced process groups of the same ranks.
#pragma once
#include "bench/train/backend/group.h"
#include "bench/train/backend/process_group.h"

namespace bench {

class TracedGroup : public Group {
 public:
  c10d::ProcessGroup* process_group() override {
    if (!row_) row_ = make("row");
    return row_.get();
  }
  c10d::ProcessGroup* separate_process_group() override {
    if (!separate_) separate_ = make("separate");
    return separate_.get();
  }
  Traffic* traffic() override { return traffic_.get(); }
  void mute_collectives(bool on) override {
    for (const auto& group : {row_, separate_})
      if (group) group->mute(on);
  }
  void barrier() override { process_group()->barrier(at_once<c10d::BarrierOptions>())->wait(); }

 protected:
  // Creates a backend for all ranks; called on every rank in the same order.
  virtual c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name) = 0;
  virtual c10::intrusive_ptr<c10d::Store> store() = 0;
  virtual bool carried_by_device() const { return false; }
  // For backends that must be destroyed before their library is finalised.
  void end_process_groups() {
    separate_.reset();
    row_.reset();
  }

 private:
  using TracedPointer = c10::intrusive_ptr<TracedProcessGroup>;
  TracedPointer make(const std::string& name) {
    auto group =
        c10::make_intrusive<TracedProcessGroup>(store(), make_backend(name), traffic_, carried_by_device());
    group->setGroupName(name);
    return group;
  }
  std::shared_ptr<Traffic> traffic_ = std::make_shared<Traffic>();
  TracedPointer row_, separate_;
};

}  // namespace bench

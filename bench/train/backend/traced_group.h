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
    for (const auto& backend : backends_) backend->mute(on);
  }
  void barrier() override { process_group()->barrier(at_once<c10d::BarrierOptions>())->wait(); }

 protected:
  // Creates a backend for all ranks; called on every rank in the same order.
  virtual c10::intrusive_ptr<c10d::Backend> make_backend(const std::string& name) = 0;
  virtual c10::intrusive_ptr<c10d::Store> store() = 0;
  virtual bool carried_by_device() const { return false; }
  // For backends that must be destroyed before their library is finalised.
  void end_process_groups() {
    backends_.clear();
    separate_.reset();
    row_.reset();
  }

 private:
  c10::intrusive_ptr<c10d::ProcessGroup> make(const std::string& name) {
    backends_.push_back(
        c10::make_intrusive<TracedBackend>(make_backend(name), traffic_, carried_by_device()));
    auto group = c10::make_intrusive<DirectProcessGroup>(store(), backends_.back());
    group->setGroupName(name);
    return group;
  }
  std::shared_ptr<Traffic> traffic_ = std::make_shared<Traffic>();
  std::vector<c10::intrusive_ptr<TracedBackend>> backends_;  // of both process groups
  c10::intrusive_ptr<c10d::ProcessGroup> row_, separate_;
};

}  // namespace bench

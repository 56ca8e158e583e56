#include "bench/train/backend/node_meeting.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <thread>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "bench/train/backend/store_group.h"

namespace bench {

constexpr std::chrono::minutes kTimeout{30};  // the harness's watchdog ends a row that hangs much sooner

NodeMeeting::NodeMeeting(const RankInfo& rank, const std::filesystem::path& ledgers, const std::string& name,
                         const c10::intrusive_ptr<c10d::Store>& store, const std::string& interface)
    : rank_(rank),
      nodes_(rank.world_size / rank.local_world_size),
      ledger_(ledgers / fmt::format("collectives-{}-node{}", name, rank.node), rank.local_rank,
              rank.local_world_size) {
  if (nodes_ == 1) return;
  arrivals_ = std::make_unique<Ledger>(ledgers / fmt::format("arrivals-{}-node{}", name, rank.node),
                                       rank.local_rank, rank.local_world_size);
  if (rank.local_rank != 0) return;
  leaders_ = make_gloo(c10::make_intrusive<c10d::PrefixStore>("leaders-" + name, store), rank.node, nodes_,
                       interface, kTimeout);
}

NodeMeeting::~NodeMeeting() {
  try {
    if (passing_on_) passing_on_->wait();
  } catch (const std::exception&) {  // the next node has ended
  }
}

uint64_t NodeMeeting::post(const std::string& what, Nanoseconds ready, std::span<const char> payload) {
  return ledger_.post(what, ready, payload);
}

void NodeMeeting::send(const Crossing& crossing, const std::string& what) {
  if (passing_on_) passing_on_->wait();  // sent_ is free again
  passing_on_ = nullptr;
  const uint64_t mark = XXH3_64bits(what.data(), what.size());
  const int64_t bytes = std::max(crossing.bytes, int64_t(sizeof mark));
  if (!sent_.defined() || sent_.numel() < bytes) {
    sent_ = at::zeros({bytes}, at::kByte);
    received_ = at::zeros({bytes}, at::kByte);
  }
  std::memcpy(sent_.data_ptr(), &mark, sizeof mark);
  std::vector<at::Tensor> out = {sent_.narrow(0, 0, bytes)}, in = {received_.narrow(0, 0, bytes)};
  const int next = (rank_.node + 1) % nodes_, previous = (rank_.node + nodes_ - 1) % nodes_;
  const bool ring = crossing.path == Crossing::Path::ring,
             receives = ring || rank_.node != crossing.root_node, sends = ring || next != crossing.root_node;
  const auto receiving = receives ? leaders_->recv(in, previous, 0) : nullptr;
  if (receiving && !ring) receiving->wait();  // a chain passes on what it has got
  const auto sending = sends ? leaders_->send(out, next, 0) : nullptr;
  if (!ring) {
    passing_on_ = sending;  // NCCL's buffers take what the next node is not ready for
  } else {
    receiving->wait();
    sending->wait();
  }
  if (receives && std::memcmp(received_.data_ptr(), &mark, sizeof mark) != 0)
    throw std::runtime_error(
        fmt::format("node {} is at {}, node {} at another collective: ranks must call the same collectives "
                    "in the same order",
                    rank_.node, what, previous));
}

std::string NodeMeeting::exchange(const std::vector<std::string>& mine) {
  std::string text;
  for (const std::string& payload : mine) text += payload;
  const int64_t bytes = std::max<int64_t>(1, int64_t(text.size()));  // a barrier has none
  std::vector<at::Tensor> in = {at::zeros({bytes}, at::kByte)};
  std::memcpy(in[0].data_ptr(), text.data(), text.size());
  std::vector<std::vector<at::Tensor>> out(1);
  for (int node = 0; node < nodes_; ++node) out[0].push_back(at::empty({bytes}, at::kByte));
  leaders_->allgather(out, in)->wait();
  std::string all;
  for (const at::Tensor& part : out[0]) all.append(static_cast<const char*>(part.data_ptr()), text.size());
  return all;
}

NodeMeeting::Result NodeMeeting::meet(uint64_t number, const std::string& what, Nanoseconds free_from,
                                      const Crossing& crossing) {
  const Nanoseconds timeout = std::chrono::nanoseconds(kTimeout).count();
  Ledger::Meeting here = ledger_.meet(number, timeout);
  Result result;
  result.begin = std::max(here.ready, free_from);
  if (nodes_ == 1) {
    result.payloads = std::move(here.payloads);
    return result;
  }
  uint64_t arrival;
  if (leads()) {
    std::this_thread::sleep_until(
        std::chrono::steady_clock::time_point(std::chrono::nanoseconds(result.begin)));
    if (crossing.path != Crossing::Path::none) {
      result.left_late = steady_now() - result.begin;
      send(crossing, what);
    }
    const bool carries_values = crossing.path == Crossing::Path::none;
    const std::string all = carries_values ? exchange(here.payloads) : "";
    arrival = arrivals_->post(what, steady_now(), all);
  } else {
    arrival = arrivals_->post(what, 0);
  }
  const Ledger::Meeting arrived = arrivals_->meet(arrival, timeout);
  result.arrived = arrived.ready;
  const std::string& all = arrived.payloads[0];
  const size_t each = all.size() / size_t(rank_.world_size);
  for (size_t rank = 0; rank < size_t(rank_.world_size); ++rank)
    result.payloads.push_back(all.substr(rank * each, each));
  return result;
}

}  // namespace bench

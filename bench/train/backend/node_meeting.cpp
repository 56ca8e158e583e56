// Shares announcements in memory within a node, and sends bytes with Gloo between the nodes' first ranks.
#include "bench/train/backend/node_meeting.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <fmt/format.h>
#include <xxhash.h>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "bench/train/backend/store_group.h"
#include "harness/contract/progress.h"

namespace bench {

constexpr std::chrono::minutes kTimeout{30};  // the harness's watchdog ends a row that hangs much sooner

NodeMeeting::NodeMeeting(const RankInfo& rank, const std::filesystem::path& ledgers, const std::string& name,
                         const c10::intrusive_ptr<c10d::Store>& store, const std::string& interface)
    : rank_(rank),
      clock_(harness::this_machine()),
      nodes_(rank.world_size / rank.local_world_size),
      ledger_(ledgers / fmt::format("collectives-{}-node{}", name, rank.node), rank.local_rank,
              rank.local_world_size) {
  if (nodes_ == 1) return;
  arrivals_ = std::make_unique<Ledger>(
      ledgers / fmt::format("arrivals-{}-node{}", name, rank.node), rank.local_rank, rank.local_world_size,
      sizeof(Nanoseconds) + Ledger::kPayloadBytes * size_t(rank.world_size), /*posters=*/1);
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

// The first bytes of a message, on the sender's steady clock.
struct NodeMeeting::Head {
  uint64_t collective;       // hash of its description
  uint64_t clock;            // which one
  Nanoseconds begin, began;  // when the transfer should have begun, and did
};

struct NodeMeeting::Arrival {
  Nanoseconds at = 0, uncertain = 0;
};

// When a transfer would have ended that began in time on both nodes. Gloo transfers when both sides are
// there, so what it took began with the later one. Without a common clock nobody knows which one that was;
// then the later one is taken to be as late as the later one of the two was.
NodeMeeting::Arrival NodeMeeting::arrival_of(const NodeMeeting::Head& theirs, const NodeMeeting::Head& own,
                                             Nanoseconds ended) {
  if (theirs.clock == own.clock)
    return {std::max(theirs.begin, own.begin) + ended - std::max(theirs.began, own.began)};
  const Nanoseconds late = theirs.began - theirs.begin, own_late = own.began - own.begin;
  return {std::max(own.begin, ended - std::max(late, own_late)), std::abs(late - own_late)};
}

NodeMeeting::Arrival NodeMeeting::send(const Crossing& crossing, const std::string& what, Head own) {
  if (passing_on_) passing_on_->wait();  // sent_ is free again
  passing_on_ = nullptr;
  const int64_t bytes = std::max(crossing.bytes, int64_t(sizeof own));
  if (!sent_.defined() || sent_.numel() < bytes) {
    sent_ = at::zeros({bytes}, at::kByte);
    received_ = at::zeros({bytes}, at::kByte);
  }
  std::vector<at::Tensor> out = {sent_.narrow(0, 0, bytes)}, in = {received_.narrow(0, 0, bytes)};
  const int next = (rank_.node + 1) % nodes_, previous = (rank_.node + nodes_ - 1) % nodes_;
  const bool ring = crossing.path == Crossing::Path::ring,
             receives = ring || rank_.node != crossing.root_node, sends = ring || next != crossing.root_node;
  const auto receiving = receives ? leaders_->recv(in, previous, 0) : nullptr;
  Arrival arrival{own.begin};
  const auto arrive = [&] {
    receiving->wait();
    const Head& theirs = *static_cast<const Head*>(received_.data_ptr());
    if (theirs.collective != own.collective)
      throw std::runtime_error(
          fmt::format("node {} is at {}, node {} at another collective: ranks must call the same collectives "
                      "in the same order",
                      rank_.node, what, previous));
    arrival = arrival_of(theirs, own, steady_now());
  };
  if (receives && !ring) {  // a chain passes on what it has got
    arrive();
    own.begin = arrival.at;
    own.began = steady_now();
  }
  std::memcpy(sent_.data_ptr(), &own, sizeof own);
  const auto sending = sends ? leaders_->send(out, next, 0) : nullptr;
  if (!ring) {
    passing_on_ = sending;  // NCCL's buffers take what the next node is not ready for
    return arrival;
  }
  arrive();
  sending->wait();
  return arrival;
}

NodeMeeting::Arrival NodeMeeting::exchange(const std::vector<std::string>& mine, const Head& own,
                                           std::string& all) {
  std::string text(reinterpret_cast<const char*>(&own), sizeof own);
  for (const std::string& payload : mine) text += payload;
  const auto bytes = int64_t(text.size());
  std::vector<at::Tensor> in = {at::zeros({bytes}, at::kByte)};
  std::memcpy(in[0].data_ptr(), text.data(), text.size());
  std::vector<std::vector<at::Tensor>> out(1);
  for (int node = 0; node < nodes_; ++node) out[0].push_back(at::empty({bytes}, at::kByte));
  leaders_->allgather(out, in)->wait();
  const Nanoseconds ended = steady_now();
  Head last = own;  // of the node that came last
  Arrival uncertain;
  for (const at::Tensor& part : out[0]) {
    const char* data = static_cast<const char*>(part.data_ptr());
    const Head& theirs = *reinterpret_cast<const Head*>(data);
    if (theirs.clock == own.clock) {
      last.began = std::max(last.began, theirs.began);
      last.begin = std::max(last.begin, theirs.begin);
    } else if (const Arrival other = arrival_of(theirs, own, ended); other.uncertain >= uncertain.uncertain) {
      uncertain = other;
    }
    all.append(data + sizeof own, text.size() - sizeof own);
  }
  return uncertain.at > 0 ? uncertain : arrival_of(last, own, ended);
}

NodeMeeting::Result NodeMeeting::meet(uint64_t number, const std::string& what, Nanoseconds free_from,
                                      const Crossing& crossing) {
  const Nanoseconds timeout = std::chrono::nanoseconds(kTimeout).count();
  Result result;
  if (nodes_ == 1) {
    Ledger::Meeting here = ledger_.meet(number, timeout);
    result.begin = std::max(here.ready, free_from);
    result.payloads = std::move(here.payloads);
    return result;
  }
  if (leads()) {
    const Ledger::Meeting here = ledger_.meet(number, timeout);
    result.begin = std::max(here.ready, free_from);
    sleep_until(result.begin);
    // After another transfer that kept the link busy, the time that this thread needed in between is a part
    // of the transfer: the link could not have sent more.
    const bool waited_for_link = free_from > here.ready && last_ended_ > 0;
    const Head own{XXH3_64bits(what.data(), what.size()), clock_, result.begin,
                   waited_for_link ? std::max({result.begin, last_ended_, here.posted_at}) : steady_now()};
    std::string news(sizeof result.begin, 0);
    const Arrival arrived = crossing.path == Crossing::Path::none ? exchange(here.payloads, own, news)
                                                                  : send(crossing, what, own);
    last_ended_ = steady_now();
    std::memcpy(news.data(), &result.begin, sizeof result.begin);
    result.uncertain = arrived.uncertain;
    arrivals_->post(what, arrived.at, news);
  } else {
    ledger_.pass(number);
  }
  const Ledger::Meeting arrived = arrivals_->meet(met_++, timeout);
  const std::string& news = arrived.payloads[0];
  std::memcpy(&result.begin, news.data(), sizeof result.begin);
  result.arrived = arrived.ready;
  const size_t each = (news.size() - sizeof result.begin) / size_t(rank_.world_size);
  for (size_t rank = 0; rank < size_t(rank_.world_size); ++rank)
    result.payloads.push_back(news.substr(sizeof result.begin + rank * each, each));
  return result;
}

}  // namespace bench

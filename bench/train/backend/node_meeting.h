// Where emulated ranks meet for a collective: those of a node in shared memory, the nodes over their real
// link. The first rank of each node sends the bytes that NCCL would send between nodes.
#pragma once
#include <filesystem>
#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "bench/train/backend/group.h"
#include "bench/train/timeline/ledger.h"

namespace bench {

// What one collective sends over the link of a node.
struct Crossing {
  enum class Path {
    none,   // nothing
    ring,   // to the next node, and as much from the previous one
    chain,  // from the root's node to the next one, and so on
  };
  Path path = Path::none;
  int64_t bytes = 0;  // at least 8, which tell the collectives apart
  int root_node = 0;  // of a chain
};

class NodeMeeting {
 public:
  // Every rank calls it, in the same order. ledgers: a folder of this node's ranks. store: of all ranks.
  // interface: network interface that carries the bytes between nodes. Throws std::runtime_error.
  NodeMeeting(const RankInfo& rank, const std::filesystem::path& ledgers, const std::string& name,
              const c10::intrusive_ptr<c10d::Store>& store, const std::string& interface);
  ~NodeMeeting();

  // As Ledger::post(). Payloads of one collective have the same size on all ranks.
  uint64_t post(const std::string& what, Nanoseconds ready, std::span<const char> payload);

  struct Result {
    Nanoseconds begin = 0;              // when all ranks of the node are ready, no earlier than `free_from`
    Nanoseconds arrived = 0;            // when the bytes of the other nodes have arrived; 0: one node
    Nanoseconds uncertain = 0;          // `arrived` may be so much later; 0 where the nodes share a clock
    std::vector<std::string> payloads;  // by rank
  };
  // Blocks until all ranks have posted and, with several nodes, until the bytes have really arrived. The
  // transfer starts in real time at `begin`, or as soon afterwards as the hosts of both nodes get to it:
  // `arrived` is when it would have ended had they been in time. what: as posted; free_from: when the
  // communication stream is free. Call it from one thread, once for each collective in order. Throws
  // std::runtime_error when ranks posted different collectives.
  Result meet(uint64_t number, const std::string& what, Nanoseconds free_from, const Crossing& crossing);

 private:
  struct Head;
  struct Arrival;
  static Arrival arrival_of(const Head& theirs, const Head& own, Nanoseconds ended);
  bool leads() const { return leaders_ != nullptr; }
  // Both return when the bytes have arrived. own: when the transfer should have begun, and did.
  Arrival send(const Crossing& crossing, const std::string& what, Head own);
  // Appends the payloads of all ranks, one after another, from those of this node's ranks.
  Arrival exchange(const std::vector<std::string>& mine, const Head& own, std::string& all);

  const RankInfo rank_;
  const uint64_t clock_;  // equal on nodes that share a steady clock
  const int nodes_;
  Ledger ledger_;
  std::unique_ptr<Ledger> arrivals_;                // the leader tells its node what has arrived and when
  uint64_t met_ = 0;                                // collectives
  Nanoseconds last_ended_ = 0;                      // in real time, of the transfer before
  c10::intrusive_ptr<c10d::Backend> leaders_ = {};  // the first ranks of all nodes; only they have it
  c10::intrusive_ptr<c10d::Work> passing_on_ = {};  // of a chain, that nobody waits for
  at::Tensor sent_, received_;                      // buffers; their values don't matter
};

}  // namespace bench

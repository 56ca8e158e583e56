// Whether a row's traffic really crossed its link: bytes that the nodes counted beside those that the
// algorithm must have sent. No Torch here.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/rank_report.h"

namespace bench {

// Accepted share of the expected bytes: packet headers and small messages add to it.
constexpr double kLeastLinkShare = 0.95, kMostLinkShare = 1.15;

struct LinkProof {
  std::optional<harness::RecordLink> record;  // nothing when no node counted anything
  std::string violation;                      // empty: the bytes fit
};

// traffic: what one rank's collectives carried in the timed batches (rank_report's `traffic`). counted: each
// node's over the same time, without what is expected. Expected of a ring over n ranks that are ordered by
// node, per node and direction: 2 (n-1)/n of the all-reduced bytes (Patarasuk & Yuan 2009), n-1 times a
// rank's gathered bytes; and once what rank 0 broadcasts, from its node only.
LinkProof prove_link(const harness::RecordCommunication& traffic, std::vector<harness::LinkNode> counted,
                     int64_t world_size);

// Where NCCL was asked to join the nodes over one network: whether its channels between ranks of different
// nodes are on it, as its own logs tell; how ranks of one node talk is its own affair. places: `rank_map`.
// Gives a check of the record, nothing where no rank was asked. Logs without such channels are no violation:
// the bytes above still are a proof.
std::optional<harness::RecordCheck> prove_transports(const std::vector<harness::RankPlace>& places,
                                                     const std::string& link);

}  // namespace bench

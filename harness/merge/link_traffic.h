// Verifies that a row's traffic used its link: compares the nodes' byte counters with the bytes that the
// algorithm must send.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/rank_report.h"
#include "harness/experiment/policy/policy.h"

namespace harness {

struct LinkTraffic {
  std::optional<RecordLink> record;  // empty: no node has counters
  std::string violation;             // empty: the bytes match
};

// How emulated devices send between nodes.
struct NodeWire {
  // NCCL's tree over the nodes, not its ring: 2 (m-1)/m of the all-reduced bytes for m nodes.
  bool tree = false;
  int64_t divisor = 1;  // all bytes are divided by it
};

// traffic: what one rank's collectives carried in the timed batches (rank_report's `traffic`). counted: each
// node's bytes in the same time; the expected bytes are filled in here. Expected per node and direction for a
// ring over n ranks ordered by node: 2 (n-1)/n of the all-reduced bytes (Patarasuk & Yuan 2009), plus n-1
// times a rank's gathered bytes, plus the bytes that rank 0 broadcasts (sent by its node, received by the
// others).
LinkTraffic check_link_traffic(const RecordCommunication& traffic, std::vector<LinkNode> counted,
                               int64_t world_size, const NodeWire& wire = {});

// For rows that request one network from NCCL: checks in NCCL's logs that its channels between ranks of
// different nodes use it (channels within a node may use any transport). places: the record's `rank_map`.
// Returns a check for the record, empty if no rank requested a network. Logs without such channels pass,
// because check_link_traffic() still verifies the link.
std::optional<RecordCheck> check_transports(const std::vector<RankPlace>& places, const std::string& link);

}  // namespace harness

// Computes each node's expected bytes from the ring or tree, and checks NCCL's transports by its log.
#include "harness/merge/link_traffic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <tuple>

namespace harness {

LinkTraffic check_link_traffic(const RecordCommunication& traffic, std::vector<LinkNode> counted,
                               int64_t world_size, const NodeWire& wire) {
  LinkTraffic proof;
  if (counted.empty()) return proof;
  const double n = double(world_size), around = wire.tree ? double(counted.size()) : n,
               divisor = double(wire.divisor);
  const double both_ways = (2 * (around - 1) / around * double(traffic.all_reduced_bytes.value_or(0)) +
                            (n - 1) * double(traffic.gathered_bytes.value_or(0))) /
                           divisor;
  const double from_rank_0 = double(traffic.broadcast_bytes.value_or(0)) / divisor;
  for (LinkNode& node : counted) {
    const double to_send = both_ways + (node.node == 0 ? from_rank_0 : 0),
                 to_receive = both_ways + (node.node == 0 ? 0 : from_rank_0);
    node.expected_sent_bytes = int64_t(to_send);
    node.expected_received_bytes = int64_t(to_receive);
    for (const auto& [what, bytes, expected] :
         {std::tuple("sent", double(node.sent_bytes), to_send),
          std::tuple("received", double(node.received_bytes), to_receive)}) {
      const double share = expected > 0 ? bytes / expected : 0;
      if (share >= kLeastLinkShare && share <= kMostLinkShare) continue;
      if (proof.violation.empty())
        proof.violation = fmt::format(
            "node {} {} {:.1f} MB over {} during the timed batches, {:.2f} of the {:.1f} MB that the "
            "all-reduces need (accepted: {:g} to {:g}): the traffic took another path",
            node.node, what, bytes / 1e6, node.interface, share, expected / 1e6, kLeastLinkShare,
            kMostLinkShare);
    }
  }
  proof.record = {std::move(counted),
                  (wire.tree ? "tree" : "ring") +
                      (wire.divisor > 1 ? fmt::format(", bytes / {}", wire.divisor) : std::string())};
  return proof;
}

// Names of InfiniBand plugins also start with IB, e.g. HPC-X's IBext_v10.
static bool is_on(const std::string& network, const std::string& transport) {
  const std::string way = "NET/" + network;
  return network == "IB" ? transport.starts_with(way) : transport == way;
}

// The next step if NCCL used another network: the user's NCCL variables take precedence over the row's.
static std::string why_another_way(const RankPlace& place) {
  std::vector<std::string> own;
  for (const auto& [name, variable] : place.nccl->environment)
    if (variable.set_by == "user") own.push_back(fmt::format("{}={}", name, variable.value));
  if (own.empty()) return fmt::format("see rank-{}.nccl.log in the row's folder", place.rank);
  return fmt::format("it found {} in its environment: unset the variables that select another network",
                     fmt::join(own, ", "));
}

// Adds the transports between this rank and ranks of other nodes to `taken`. Returns a message if one is not
// on the requested network, otherwise an empty string.
static std::string add_transports(const RankPlace& place, const std::vector<RankPlace>& places,
                                  const std::string& link, std::set<std::string>& taken) {
  const std::string& asked = place.nccl->asked_network;
  for (const auto& [transport, way] : place.nccl->transports)
    for (const int64_t at : way.peers) {
      const size_t peer(at);
      if (peer >= places.size() || places[peer].node == place.node) continue;
      taken.insert(transport);
      if (is_on(asked, transport)) continue;
      return fmt::format(
          "rank {} on node {} is connected to rank {} on node {} over {}, but link {} requests NET/{}: {}, "
          "or choose another link",
          place.rank, place.node, peer, places[peer].node, transport, link, asked, why_another_way(place));
    }
  return "";
}

std::optional<RecordCheck> check_transports(const std::vector<RankPlace>& places, const std::string& link) {
  std::set<std::string> taken;
  std::string violation;
  bool asked = false;
  for (const RankPlace& place : places) {
    if (!place.nccl || place.nccl->asked_network.empty()) continue;
    asked = true;
    if (violation.empty()) violation = add_transports(place, places, link, taken);
  }
  if (!asked) return std::nullopt;
  std::string detail = violation;
  if (violation.empty())
    detail = taken.empty()
                 ? "NCCL's logs contain no channel between nodes: only the byte counters verify the link"
                 : fmt::format("NCCL's channels between nodes: {}", fmt::join(taken, ", "));
  return RecordCheck{"transport", violation.empty(), detail};
}

}  // namespace harness

#include "bench/link_proof.h"

#include <fmt/format.h>

namespace bench {

using nlohmann::json;

LinkProof prove_link(const json& traffic, const json& counted, int64_t world_size) {
  LinkProof proof;
  if (counted.empty()) return proof;
  const double n = double(world_size);
  const double both_ways = 2 * (n - 1) / n * traffic.at("all_reduced_bytes").get<double>() +
                           (n - 1) * traffic.at("gathered_bytes").get<double>();
  const double from_rank_0 = traffic.at("broadcast_bytes").get<double>();
  proof.record = {{"nodes", counted}, {"formula", "ring"}};
  for (json& node : proof.record["nodes"]) {
    const bool first = node.at("node") == 0;
    const double sent = node.at("sent_bytes").get<double>(),
                 received = node.at("received_bytes").get<double>();
    const double to_send = both_ways + (first ? from_rank_0 : 0),
                 to_receive = both_ways + (first ? 0 : from_rank_0);
    node["expected_sent_bytes"] = int64_t(to_send);
    node["expected_received_bytes"] = int64_t(to_receive);
    for (const auto& [what, bytes, expected] :
         {std::tuple("sent", sent, to_send), std::tuple("received", received, to_receive)}) {
      const double share = expected > 0 ? bytes / expected : 0;
      if (share >= kLeastLinkShare && share <= kMostLinkShare) continue;
      if (proof.violation.empty())
        proof.violation = fmt::format(
            "node {} {} {:.1f} MB over {} during the timed batches, {:.2f} of the {:.1f} MB that the "
            "all-reduces "
            "come to (accepted: {:g} to {:g}): the traffic took another way",
            node.at("node").get<int>(), what, bytes / 1e6, node.at("interface").get<std::string>(), share,
            expected / 1e6, kLeastLinkShare, kMostLinkShare);
    }
  }
  return proof;
}

}  // namespace bench

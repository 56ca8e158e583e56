// train: verification of a link's traffic: counters of interfaces and InfiniBand ports, and the expected
// bytes.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/train/link/interface.h"
#include "harness/merge/link_traffic.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace bench::link_test {

namespace fs = std::filesystem;
using nlohmann::json;

TEST(Interface, CountersAreReadByName) {
  const char* const table =
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo "
      "colls\n"
      "    lo:     500       5    0    0    0     0          0         0      500       5    0    0    0     "
      "0\n"
      " link0: 1000002      20    0    0    0     0          0         0  3000004      30    0    0    0     "
      "0\n"
      "link00:       7       1    0    0    0     0          0         0        8       1    0    0    0     "
      "0\n";
  std::istringstream stream(table);
  const LinkBytes bytes = bytes_of_interface("link0", stream);
  EXPECT_EQ(bytes.received, 1000002);
  EXPECT_EQ(bytes.sent, 3000004);
  std::istringstream again(table);
  EXPECT_THROW(bytes_of_interface("ink0", again), WrongLink);
}

TEST(Interface, TheOneThatLeadsToThisHostIsFound) {
  EXPECT_EQ(interface_towards("127.0.0.1"), "lo");
  EXPECT_THROW(interface_towards("no-such-host.invalid"), WrongLink);
}

TEST(Interface, TheLoopbackJoinsNoNodes) {
  const auto ethernet = LinkRegistry::instance().find("ethernet");
  EXPECT_SAYS(failure_of([&] { ethernet({"", "127.0.0.1", /*emulated=*/false}); }), "with --interface");
  EXPECT_EQ(ethernet({"", "127.0.0.1", /*emulated=*/true}).interface, "lo");
  const Link asked = ethernet({"lo", "127.0.0.1", /*emulated=*/false});
  EXPECT_EQ(asked.interface, "lo") << "as the user says";
  EXPECT_TRUE(asked.bytes());
  EXPECT_FALSE(LinkRegistry::instance().find("none")({}).bytes());
}

class Adapter : public testing::Test {
 protected:
  void port(const std::string& adapter, const std::string& number, const std::string& layer,
            const std::string& state, const std::string& sent, const std::string& received) {
    const fs::path folder = root / adapter / "ports" / number;
    fs::create_directories(folder / "counters");
    std::ofstream(folder / "link_layer") << layer << '\n';
    std::ofstream(folder / "state") << state << '\n';
    std::ofstream(folder / "counters" / "port_xmit_data") << sent << '\n';
    std::ofstream(folder / "counters" / "port_rcv_data") << received << '\n';
  }
  TemporaryFolder root;
};

TEST_F(Adapter, ActiveInfiniBandPortsAreAddedUpInBytes) {
  port("mlx5_0", "1", "InfiniBand", "4: ACTIVE", "100", "200");
  port("mlx5_1", "1", "InfiniBand", "4: ACTIVE", "1", "2");
  port("mlx5_2", "1", "Ethernet", "4: ACTIVE", "1000", "1000");
  port("mlx5_3", "1", "InfiniBand", "1: DOWN", "1000", "1000");
  const LinkBytes bytes = bytes_of_adapters(root);
  EXPECT_EQ(bytes.sent, 404);
  EXPECT_EQ(bytes.received, 808);
}

TEST_F(Adapter, WithoutAnActivePortTheLinkIsWrong) {
  EXPECT_THROW(bytes_of_adapters(root), WrongLink);
  port("mlx5_2", "1", "Ethernet", "4: ACTIVE", "1000", "1000");
  EXPECT_THROW(bytes_of_adapters(root), WrongLink);
}

harness::RecordCommunication traffic(int64_t all_reduced, int64_t broadcast = 0) {
  harness::RecordCommunication traffic;
  traffic.all_reduced_bytes = all_reduced;
  traffic.broadcast_bytes = broadcast;
  traffic.gathered_bytes = 0;
  return traffic;
}

harness::LinkNode node(int number, double sent, double received) {
  harness::LinkNode node;
  node.node = number;
  node.interface = "eth0";
  node.sent_bytes = int64_t(sent);
  node.received_bytes = int64_t(received);
  return node;
}

TEST(LinkTraffic, ARingCrossesALinkWithTwiceNMinusOneNthsOfTheBytes) {
  // 8 ranks, 1 MB: 1.75 MB in each direction.
  const auto good =
      check_link_traffic(traffic(1000000), {node(0, 1.75e6, 1.80e6), node(1, 1.80e6, 1.75e6)}, 8);
  EXPECT_EQ(good.violation, "");
  EXPECT_EQ(good.record->nodes.at(0).expected_sent_bytes, 1750000);
  // The bytes that rank 0 broadcasts leave its node once.
  const auto with_broadcast =
      check_link_traffic(traffic(1000000, 500000), {node(0, 2.25e6, 1.75e6), node(1, 1.75e6, 2.25e6)}, 8);
  EXPECT_EQ(with_broadcast.violation, "");
}

TEST(LinkTraffic, TooFewOrTooManyBytesAreAViolationThatNamesNodeAndDirection) {
  for (const double wrong : {0.0, 1.6e6, 2.1e6}) {
    const auto proof =
        check_link_traffic(traffic(1000000), {node(0, 1.75e6, 1.75e6), node(1, wrong, 1.75e6)}, 8);
    EXPECT_NE(proof.violation.find("node 1 sent"), std::string::npos) << proof.violation;
  }
  EXPECT_NE(check_link_traffic(traffic(0), {node(0, 100, 100)}, 2).violation, "")
      << "nothing was to be sent at all";
}

TEST(LinkTraffic, BytesOfEmulatedDevicesAreThoseOfTheRingOrTheTreeDivided) {
  const harness::NodeWire ring{false, 32}, tree{true, 32};
  const double ring_bytes = 1.75 * 32e6 / 32, tree_bytes = 32e6 / 32;
  EXPECT_EQ(check_link_traffic(traffic(32000000),
                               {node(0, ring_bytes, ring_bytes), node(1, ring_bytes, ring_bytes)}, 8, ring)
                .violation,
            "");
  EXPECT_EQ(check_link_traffic(traffic(32000000),
                               {node(0, tree_bytes, tree_bytes), node(1, tree_bytes, tree_bytes)}, 8, tree)
                .violation,
            "");
  EXPECT_NE(check_link_traffic(traffic(32000000),
                               {node(0, ring_bytes, ring_bytes), node(1, ring_bytes, ring_bytes)}, 8, tree)
                .violation,
            "");
}

TEST(LinkTraffic, OneNodeHasNothingToProve) {
  const auto proof = check_link_traffic(traffic(1000), {}, 4);
  EXPECT_TRUE(!proof.record.has_value());
  EXPECT_EQ(proof.violation, "");
}

}  // namespace bench::link_test

// unit: NCCL's environment for a row's link, parsing of NCCL's log, and the check of the transports
#include <gtest/gtest.h>
#include <stdlib.h>

#include <sstream>

#include "bench/train/gpu/nccl_environment.h"
#include "bench/train/gpu/nccl_log.h"
#include "harness/merge/link_traffic.h"
#include "tests/support/fake_report.h"
#include "tests/support/merged.h"

namespace bench::nccl_link_test {

using nlohmann::json;
using Variables = std::map<std::string, std::string>;

Variables told(const std::string& link, const std::string& interface, bool emulated = false) {
  return nccl_variables({link, interface, emulated}, "");
}

TEST(NcclVariables, OneNodeKeepsToItsLoopback) {
  EXPECT_EQ(told("none", "lo"), (Variables{{"NCCL_SOCKET_IFNAME", "=lo"}}));
}

TEST(NcclVariables, EthernetIsSocketsOnExactlyItsInterface) {
  const Variables expected = {{"NCCL_SOCKET_IFNAME", "=eth1"},
                              {"NCCL_NET", "Socket"},
                              {"NCCL_ALGO", "Ring"},
                              {"NCCL_MNNVL_ENABLE", "0"}};
  EXPECT_EQ(told("ethernet", "eth1"), expected);
  EXPECT_EQ(told("ethernet", "eth1", /*emulated=*/true), expected);
}

TEST(NcclVariables, InfiniBandIsVerbsUnlessEmulatedByAVethPair) {
  EXPECT_EQ(told("infiniband", "ib0").at("NCCL_NET"), "IB");
  EXPECT_EQ(told("infiniband", "ib0").at("NCCL_SOCKET_IFNAME"), "=ib0") << "ranks still meet over sockets";
  EXPECT_EQ(told("infiniband", "link0", /*emulated=*/true).at("NCCL_NET"), "Socket");
}

TEST(NcclVariables, TheLogGoesToTheFileWhateverItsName) {
  const Variables variables = nccl_variables({}, "/runs/50%p/rank-0.nccl.log");
  EXPECT_EQ(variables.at("NCCL_DEBUG"), "INFO");
  EXPECT_EQ(variables.at("NCCL_DEBUG_SUBSYS"), "INIT,NET,ENV");
  EXPECT_EQ(variables.at("NCCL_DEBUG_FILE"), "/runs/50%%p/rank-0.nccl.log") << "%p is the process to NCCL";
}

// Removes all NCCL variables except the test's.
class NcclEnvironment : public testing::Test {
 protected:
  void SetUp() override { forget(); }
  void TearDown() override { forget(); }
  static void forget() {
    for (const auto& [name, variable] : nccl_environment({})) ::unsetenv(name.c_str());
  }
};

TEST_F(NcclEnvironment, WhatIsNotThereIsSet) {
  const auto set = set_nccl_environment(told("ethernet", "eth1"));
  EXPECT_EQ(set, (std::set<std::string>{"NCCL_ALGO", "NCCL_MNNVL_ENABLE", "NCCL_NET", "NCCL_SOCKET_IFNAME"}));
  EXPECT_STREQ(::getenv("NCCL_SOCKET_IFNAME"), "=eth1");
  EXPECT_EQ(harness::encode(nccl_environment(set))["NCCL_NET"],
            json({{"value", "Socket"}, {"set_by", "row"}}));
}

TEST_F(NcclEnvironment, WhatTheUserHasSetWinsAndIsRecorded) {
  ::setenv("NCCL_NET", "IB", 1);
  ::setenv("NCCL_SOCKET_IFNAME", "", 1);
  ::setenv("NCCL_IB_HCA", "=mlx5_0:1", 1);  // not set by the row
  const auto set = set_nccl_environment(told("ethernet", "eth1"));
  EXPECT_STREQ(::getenv("NCCL_NET"), "IB");
  EXPECT_STREQ(::getenv("NCCL_SOCKET_IFNAME"), "");
  const json environment = harness::encode(nccl_environment(set));
  EXPECT_EQ(environment["NCCL_NET"], json({{"value", "IB"}, {"set_by", "user"}}));
  EXPECT_EQ(environment["NCCL_SOCKET_IFNAME"], json({{"value", ""}, {"set_by", "user"}}));
  EXPECT_EQ(environment["NCCL_IB_HCA"], json({{"value", "=mlx5_0:1"}, {"set_by", "user"}}));
  EXPECT_EQ(environment["NCCL_ALGO"]["set_by"], "row");
  EXPECT_EQ(environment.size(), 5u) << "none but NCCL's: " << environment;
}

// Line prefix as in NCCL's debug.cc.
std::string info(const std::string& text) { return "node0:4711:4720 [0] NCCL INFO " + text + "\n"; }

json read(const std::string& text) {
  std::istringstream stream(text);
  json facts = harness::encode(read_nccl_log(stream).facts);
  facts.erase("environment");  // isn't the log's
  return facts;
}

TEST(NcclLog, VersionNetworkAndTransportsAreRead) {
  const json log =
      read(info("NCCL version 2.28.9+cuda13.0") + info("NET/Socket : Using [0]eth1:10.0.0.1<0>") +
           info("Using network Socket") + info("Channel 00/02 : 0 1 2 3") + info("Channel 01/02 : 0 1 2 3") +
           info("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read") +
           info("Channel 01/0 : 0[0] -> 1[1] via P2P/CUMEM/read") +
           info("Channel 00/0 : 3[1] -> 0[0] [receive] via NET/Socket/0") +
           info("Channel 00/0 : 0[0] -> 2[0] [send] via NET/Socket/0/Shared") +
           info("Channel 00 : 0[0] -> 3[1] via SHM/direct/direct"));
  EXPECT_EQ(log, json({{"version", "2.28.9+cuda13.0"},
                       {"network", "Socket"},
                       {"transports",
                        {{"NET/Socket", {{"channels", 1}, {"peers", {2}}}},
                         {"P2P/CUMEM", {{"channels", 2}, {"peers", {1}}}},
                         {"SHM/direct", {{"channels", 1}, {"peers", {3}}}}}}}));
}

TEST(NcclLog, EveryFormOfATransportHasItsName) {
  for (const auto& [way, name] : std::map<std::string, std::string>{
           {"[send] via NET/IB/0", "NET/IB"},
           {"[send] via NET/IB/3(5)/GDRDMA/Shared", "NET/IB/GDRDMA"},
           {"[send] via NET/IB/1/GDRDMA(PCI)", "NET/IB/GDRDMA"},
           {"[send] via NET/AWS Libfabric/0/GDRDMA", "NET/AWS Libfabric/GDRDMA"},
           {"via P2P/IPC/read", "P2P/IPC"},
           {"via P2P/MNNVL", "P2P/MNNVL"},
           {"via P2P/direct pointer/read", "P2P/direct pointer"},
           {"via P2P/indirect/3[3]", "P2P/indirect"},
           {"via SHM/direct", "SHM/direct"}}) {
    const json log = read(info("Channel 02/1 : 12[4] -> 1023[7] " + way));
    EXPECT_EQ(log["transports"], json({{name, {{"channels", 1}, {"peers", {1023}}}}})) << way;
  }
  EXPECT_EQ(read(info("Channel 00/0 : 0[1b000] -> 1[b3000] via P2P/IPC"))["transports"].size(), 1u)
      << "older versions name GPUs by their bus";
}

TEST(NcclLog, AlgorithmAndProtocolAreReadInTheFormOfEveryVersion) {
  const auto choices = [](const std::string& text) {
    std::istringstream stream(text);
    return read_nccl_choices(stream);
  };
  EXPECT_EQ(choices(info("4 Bytes -> Algo 0 proto 0 time 6.840000") +  // 2.20 to 2.22
                    info("26214400 Bytes -> Algo 4 proto 2 time 203.410004")),
            (Variables{{"4 bytes", "Algo 0 proto 0"}, {"26214400 bytes", "Algo 4 proto 2"}}));
  EXPECT_EQ(choices(info("AllGather: 37756928 Bytes -> Algo 1 proto 2 time 2860.208008") +  // 2.23
                    info("AllReduce: 65536 Bytes -> Algo 6 proto 1 time 20.0")),
            (Variables{{"AllGather 37756928 bytes", "Algo 1 proto 2"},
                       {"AllReduce 65536 bytes", "Algo 6 proto 1"}}));
  const std::string ring = info("AllReduce: 8388608 Bytes -> Algo RING proto LL128 channel{Lo..Hi}={0..15}"),
                    nvls = info(
                        "AllReduce: 268435456 Bytes -> Algo NVLS_TREE proto SIMPLE channel{Lo..Hi}={0..3}");
  EXPECT_EQ(choices(ring + nvls + ring),  // 2.24 to 2.30
            (Variables{{"AllReduce 8388608 bytes", "Algo RING proto LL128"},
                       {"AllReduce 268435456 bytes", "Algo NVLS_TREE proto SIMPLE"}}));
  EXPECT_EQ(
      choices(info("AllReduce [Symmetric]: 4096 Bytes -> Kernel AllReduce_AGxLL_R nchannels 4 nthreads 512")),
      (Variables{{"AllReduce 4096 bytes", "Kernel AllReduce_AGxLL_R"}}));  // 2.27 to 2.30
}

TEST(NcclLog, OtherAndIncompleteLinesAreNoChoice) {
  for (const std::string& text : {std::string(), info("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read"),
                                  info("AllReduce: 4096 Bytes of nothing"), info("AllReduce: 4 Bytes -> "),
                                  info("AllReduce [Copy Engine]: 4096 Bytes -> cudaMemcpyBatchAsync"),
                                  std::string("AllReduce: 4096 Bytes -> Algo RING proto SIM")}) {
    std::istringstream stream(text);
    EXPECT_TRUE(read_nccl_choices(stream).empty()) << text;
  }
}

TEST(NcclLog, ALogWithoutChannelsSaysSo) {
  for (const std::string& text :
       {std::string(), std::string("\n"), info("Using network IB"), info("Channel 00/02 : 0 1 2 3")}) {
    const json log = read(text);
    EXPECT_EQ(log["transports"], json::object());
    EXPECT_NE(log.value("note", "").find("contains no channel"), std::string::npos) << text;
  }
  const NcclLog missing = read_nccl_log(std::filesystem::path("/nonexistent/rank-0.nccl.log"));
  EXPECT_TRUE(missing.facts.transports.empty());
  EXPECT_FALSE(missing.without_network);
}

TEST(NcclLog, GarbageAndALineThatIsNotWholeArePassedOver) {
  const std::string garbage =
      std::string("\0\xff\x80 via /\n", 10) + info("Channel") + info("Channel  via ") +
      info("Channel 00/0 : 0[0] ->") + info("Channel 99999999999999999999/0 : 0[0] -> 1[1] via P2P/IPC") +
      info("Channel 00/0 : a[b] -> c[d] via P2P/IPC") + info("Channel 00/0 : 0[0] -> 1[1] via nothing") +
      info("Using network") + info("Mismatched NCCL version detected") + std::string(1 << 20, 'x') + "\n";
  EXPECT_EQ(read(garbage), read(""));
  const std::string channel = info("Channel 00/0 : 0[0] -> 1[1] via P2P/IPC");
  EXPECT_EQ(read(garbage + channel)["transports"].size(), 1u);
  for (size_t length = 0; length < channel.size(); ++length)
    EXPECT_EQ(read(channel.substr(0, length)), read("")) << length;
}

TEST(NcclLog, ANetworkThatIsNotThereIsNoticed) {
  std::istringstream stream(
      "\n[2025-01-01 00:00:00] node0:4711:4720 [0] plugin/net.cc:371 NCCL WARN Failed to initialize any NET "
      "plugin\n");
  EXPECT_TRUE(read_nccl_log(stream).without_network);
}

// Two nodes with two ranks each, whose ring goes 0 1 2 3.
json check_transports(const json& rank_places, const std::string& link) {
  const auto check =
      harness::check_transports(harness::decode<std::vector<harness::RankPlace>>(rank_places), link);
  return check ? harness::encode(*check) : json();
}

json places(const std::string& asked, const std::string& between_nodes) {
  json places = json::array();
  for (int rank = 0; rank < 4; ++rank) {
    json nccl = {{"environment", {{"NCCL_ALGO", {{"value", "Ring"}, {"set_by", "row"}}}}},
                 {"asked_network", asked}};
    const std::string transport = rank % 2 == 0 ? "P2P/CUMEM" : between_nodes;
    nccl["transports"] = {{transport, {{"channels", 2}, {"peers", {(rank + 1) % 4}}}}};
    places.push_back({{"rank", rank}, {"node", rank / 2}, {"nccl", nccl}});
  }
  return places;
}

TEST(Transports, ThatTheLinkAsksForAreRight) {
  const json check = check_transports(places("Socket", "NET/Socket"), "ethernet");
  EXPECT_EQ(check["name"], "transport");
  EXPECT_TRUE(check["ok"].get<bool>()) << check;
  EXPECT_EQ(check["detail"], "NCCL's channels between nodes: NET/Socket");
  for (const char* way : {"NET/IB", "NET/IB/GDRDMA", "NET/IBext_v10/GDRDMA"})
    EXPECT_TRUE(check_transports(places("IB", way), "infiniband")["ok"].get<bool>()) << way;
}

TEST(Transports, OtherOnesBetweenNodesAreAViolationThatSaysWhatToDo) {
  const json check = check_transports(places("IB", "NET/Socket"), "infiniband");
  EXPECT_FALSE(check["ok"].get<bool>());
  EXPECT_EQ(check["detail"],
            "rank 1 on node 0 is connected to rank 2 on node 1 over NET/Socket, but link infiniband requests "
            "NET/IB: see rank-1.nccl.log in the row's folder, or choose another link");
  for (const char* way : {"NET/IB/GDRDMA", "NET/Socketless", "P2P/MNNVL", "SHM/direct"})
    EXPECT_FALSE(check_transports(places("Socket", way), "ethernet")["ok"].get<bool>()) << way;
}

TEST(Transports, AViolationNamesTheUsersOwnVariables) {
  json four = places("Socket", "NET/IB");
  four[1]["nccl"]["environment"]["NCCL_NET"] = {{"value", "IB"}, {"set_by", "user"}};
  const std::string detail = check_transports(four, "ethernet")["detail"];
  EXPECT_NE(detail.find("found NCCL_NET=IB in its environment"), std::string::npos) << detail;
  EXPECT_EQ(detail.find("NCCL_ALGO"), std::string::npos) << detail;
}

TEST(Transports, UnknownOnesLeaveTheProofToTheBytes) {
  json four = places("Socket", "NET/Socket");
  for (json& place : four) place["nccl"]["transports"] = json::object();
  const json check = check_transports(four, "ethernet");
  EXPECT_TRUE(check["ok"].get<bool>());
  EXPECT_NE(check["detail"].get<std::string>().find("no channel between nodes"), std::string::npos) << check;
}

TEST(Transports, WithoutALinkOrNcclThereIsNothingToProve) {
  json one_node = places("Socket", "SHM/direct");
  for (json& place : one_node) place["nccl"].erase("asked_network");
  EXPECT_TRUE(check_transports(one_node, "none").is_null());
  for (json& place : one_node) place.erase("nccl");
  EXPECT_TRUE(check_transports(one_node, "none").is_null());
}

// The record of a row whose ranks' bytes fit the link.
json merged(const json& rank_places) {
  harness::Row row;
  row.link = "ethernet";
  row.backend = "nccl";
  row.warmup_batches = 1;
  row.timed_batches = 2;
  std::vector<std::string> texts;
  for (const json& place : rank_places) {
    json report = fake_report(row, place["rank"]);
    report["place"].update(place);
    if (place["rank"].get<int>() % 2 == 0)
      report["link"] = {{"interface", "eth1"}, {"sent_bytes", 1505}, {"received_bytes", 1505}};
    texts.push_back(report.dump());
  }
  return harness::encode(merged_texts(row, std::move(texts)));
}

bool passes(const json& record, const std::string& name) {
  for (const json& check : record["checks"])
    if (check["name"] == name) return check["ok"];
  ADD_FAILURE() << "no check " << name << ": " << record["checks"];
  return false;
}

TEST(Transports, AreCheckedInAdditionToBytesAndAreInTheRankMap) {
  const json good = merged(places("Socket", "NET/Socket"));
  EXPECT_TRUE(passes(good, "transport"));
  EXPECT_TRUE(passes(good, "link"));
  EXPECT_EQ(good["rank_map"][1]["nccl"]["transports"]["NET/Socket"]["peers"], json({2}));
  const json bad = merged(places("Socket", "P2P/MNNVL"));
  EXPECT_FALSE(passes(bad, "transport"));
  EXPECT_TRUE(passes(bad, "link"));
}

}  // namespace bench::nccl_link_test

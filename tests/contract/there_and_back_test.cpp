// unit: the structs that programs exchange and that run_matrix keeps: each is written as JSON under the keys
// of earlier versions and read back, member by member.
#include <gtest/gtest.h>

#include "harness/contract/axis_values.h"
#include "harness/contract/dataset.h"
#include "harness/contract/job.h"
#include "harness/contract/progress.h"
#include "harness/contract/rank_timelines.h"
#include "harness/contract/record.h"
#include "harness/contract/slice_file.h"
#include "harness/nightly/open_night.h"
#include "harness/nightly/trend.h"
#include "harness/plan/prediction.h"
#include "tests/support/failure_of.h"

namespace harness::there_and_back_test {

using nlohmann::json;

// `value` is written as `text`, and `text` is read and written as the same. Each member's value in it is
// another, so that a key which leads to a wrong member is noticed.
template <class T>
void expect_back(const T& value, const std::string& text) {
  const json expected = json::parse(text);
  EXPECT_EQ(encode(value), expected);
  EXPECT_EQ(encode(decode<T>(expected)), expected);
}

TEST(ThereAndBack, RowsAndJobsThereAndBack) {
  Row row;
  row.id = "12";
  row.batch = 17;
  row.read_rate = 2.5e6;
  row.sync_bn = true;
  Job job;
  job.row = row;
  job.index = "/index.tsv";
  job.validation = "/val.tsv";
  job.packed = {{"lmdb", "/packed/lmdb"}};
  job.progress = "/run/progress";
  job.directory = "/run/rows/12";
  job.interface = "eth0";
  job.server_counter = "/proc/7/io";
  job.emulated_link = true;
  job.trace = TracedBatches{3, 5};
  job.cores = 16;
  json expected = json::parse(R"({"index": "/index.tsv", "validation": "/val.tsv",
      "packed": {"lmdb": "/packed/lmdb"}, "progress": "/run/progress", "directory": "/run/rows/12",
      "interface": "eth0", "server_counter": "/proc/7/io", "emulated_link": true,
      "loader_start_s": 0, "loader_silence_s": 0,
      "trace": {"first": 3, "last": 5}, "cores": 16})");
  expected["row"] = to_json(row);
  expect_back(job, expected.dump());
  job.emulation = Emulation{.device = {}, .batch_divisor = 16, .time_scale = 8};
  job.emulation->device.launch_us = {5, "assumed", "a test"};
  job.emulation->device.calibrated_on = {{"0", "total"}};
  EXPECT_EQ(encode(decode<Job>(encode(job))), encode(job));
  EXPECT_EQ(encode(job)["emulation"]["device"]["launch_us"], json({5.0, "assumed", "a test"}));
  EXPECT_FALSE(decode<Job>(encode(Job{})).trace);
}

TEST(ThereAndBack, EveryFieldOfARowHasItsOwnMember) {
  for (const Field& field : fields()) {
    json changed = to_json(Row{});
    json& value = changed[field.name];
    if (value.is_boolean())
      value = !value.get<bool>();
    else if (value.is_number_integer())
      value = value.get<int64_t>() + 1;
    else if (value.is_number())
      value = value.get<double>() + 0.5;
    else if (value.is_string())
      value = value.get<std::string>() + "x";
    else
      continue;  // absent unless the article states it
    EXPECT_EQ(to_json(decode<Row>(changed)), changed) << field.name;
  }
}

TEST(ThereAndBack, WhatProgramsHandToOneAnotherThereAndBack) {
  // No two of the traits that are true, false or absent are alike in all values.
  Traits a, b, c;
  a.process_per_device = a.several_devices = a.started_by_mpi = true;
  a.packed = a.transient = a.stream = false;
  a.service = "http";
  a.device = "cuda";
  a.count = 3;
  b.process_per_device = b.packed = b.page_cache = true;
  b.several_devices = b.transient = b.nvjpeg = false;
  c.computes = false;
  expect_back(
      AxisValues{{"storage", {{"remote", "over HTTP", a, "no curl"}, {"files", "as they are", b, ""}}},
                 {"device", {{"emulated", "timed waits", c, ""}}}},
      R"({"storage": [
      {"name": "remote", "summary": "over HTTP", "missing": "no curl",
       "traits": {"process_per_device": true, "several_devices": true, "started_by_mpi": true, "packed": false,
                  "transient": false, "stream": false, "service": "http", "device": "cuda", "count": 3}},
      {"name": "files", "summary": "as they are", "missing": "",
       "traits": {"process_per_device": true, "several_devices": false, "packed": true, "transient": false,
                  "page_cache": true, "nvjpeg": false}}],
      "device": [{"name": "emulated", "summary": "timed waits", "missing": "", "traits": {"computes": false}}]})");
  IndexHeader header;
  header.root = "/data";
  header.fingerprint = "f00d";
  header.kind = "folder";
  header.images = 2;
  header.bytes = 3;
  header.seed = 4;
  header.skipped = 5;
  header.classes = {"n00", "n01"};
  header.left_out = {{".webp", 6}};
  expect_back(header,
              R"({"version": 1, "root": "/data", "fingerprint": "f00d", "kind": "folder", "images": 2,
      "bytes": 3, "seed": 4, "skipped": 5, "classes": ["n00", "n01"], "left_out": {".webp": 6}})");
  expect_back(IndexAnswer{"index.tsv", "val.tsv"}, R"({"index": "index.tsv", "validation": "val.tsv"})");
  expect_back(PackAnswer{"/packed", "packed 3 images"},
              R"({"location": "/packed", "note": "packed 3 images"})");
  expect_back(WhyEnded{"INVALID", "why"}, R"({"status": "INVALID", "reason": "why"})");
  expect_back(MemoryProbe{32, true}, R"({"images": 32, "fits": true})");
  RankTimelines timelines{
      1, 2, 3, "host", {{4, 5, 6, {{7, "collectives", "load", 0.5, 1.5}}, {{"read", 2.5}}}}};
  expect_back(timelines, R"({"rank": 1, "pid": 2, "clock_began_ns": 3, "host": "host", "batches": [
      {"batch": 4, "machine": 5, "begin_ns": 6, "spans_ms": {"read": 2.5}, "events": [
        {"rank": 7, "track": "collectives", "name": "load", "begin_ms": 0.5, "end_ms": 1.5}]}]})");
  RankPlace place{4, 5, "node-b", "cuda:1", {6, 7}, {}};
  place.nccl =
      RankNccl{"2.28", "Socket", "IB", "a note", {{"NET/IB", {2, {1, 3}}}}, {{"NCCL_NET", {"IB", "row"}}}};
  expect_back(place, R"({"rank": 4, "node": 5, "host": "node-b", "device": "cuda:1", "cpus": [6, 7], "nccl": {
      "version": "2.28", "network": "Socket", "asked_network": "IB", "note": "a note",
      "transports": {"NET/IB": {"channels": 2, "peers": [1, 3]}},
      "environment": {"NCCL_NET": {"value": "IB", "set_by": "row"}}}})");
  SliceFacts facts{
      {"cpu", "Zen", "1 CPU replica", "", {}}, {"o2", "bfloat16", "", ""}, 31.5, {{"lmdb", "0.9"}}};
  expect_back(facts, R"({"device": {"kind": "cpu", "name": "Zen", "label": "1 CPU replica"},
      "precision": {"name": "o2", "sixteen_bit": "bfloat16", "label": ""},
      "clock_ns_per_call": 31.5, "versions": {"lmdb": "0.9"}})");
}

TEST(ThereAndBack, ASliceFileHasTheFactsAndThenALinePerReport) {
  EXPECT_EQ(slice_text({}, {R"({"rank": 0})", R"({"rank": 1})"}),
            encode(SliceFacts{}).dump() + "\n{\"rank\": 0}\n{\"rank\": 1}\n");
}

// Files of nights, alarms and durations, as earlier versions wrote them.
TEST(ThereAndBack, WhatRunMatrixKeepsThereAndBack) {
  expect_back(PastDuration{"7", "smoke", "Zen", "abc", 1.5, 300},
              R"(["7", "smoke", "Zen", "abc", 1.5, 300.0])");
  EXPECT_SAYS(failure_of([] { decode<PastDuration>(json{"7", "smoke"}); }), "a list of 6 values");
  Night night;
  night.id = "n1";
  night.started_at = "2026-01-01T03:00:00Z";
  night.tag = "main";
  night.machine = "Zen";
  night.environment = "Zen; Linux";
  night.host = "a";
  night.revision = "abc123";
  night.run = "/runs/n1";
  night.imported = true;
  night.complete = false;
  night.canaries = {{"gemm_ms", 1.5}};
  night.rows = {{"7", "smoke", "cpu", "OK", "abc", {1.5}, {{"load", 3.5}}, 3}};
  expect_back(night, R"({"schema": 1, "id": "n1", "started_at": "2026-01-01T03:00:00Z", "tag": "main",
      "machine": "Zen", "environment": "Zen; Linux", "host": "a", "revision": "abc123", "run": "/runs/n1",
      "imported": true, "complete": false, "canaries": {"gemm_ms": 1.5}, "rows": [
        {"row": "7", "scale": "smoke", "device": "cpu", "status": "OK", "config": "abc", "totals_s": [1.5],
         "phases_ms": {"load": 3.5}, "repeats": 3}]})");
  expect_back(OpenNight{"n1", "main", "a", "/runs/n1", {{"gemm_ms", 1.5}}, true},
              R"({"id": "n1", "tag": "main", "host": "a", "run": "/runs/n1", "canaries": {"gemm_ms": 1.5},
                  "finished": true})");
  expect_back(Alarm{"k", "7", "Zen", "n1", 0, 1.5, 2.5, "gemm_ms", "n2"},
              R"({"key": "k", "row": "7", "machine": "Zen", "since": "n1", "before": 1.5, "after": 2.5,
                  "canary": "gemm_ms", "told": "n2"})");
  expect_back(ChangePoint{3, 1.5, 2.5, 0.5}, R"({"index": 3, "before": 1.5, "after": 2.5, "p": 0.5})");
}

}  // namespace harness::there_and_back_test

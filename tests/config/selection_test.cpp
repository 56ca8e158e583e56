// unit: what --only, --set and --devices do to rows, and how rows are listed
#include "harness/config/selection.h"

#include <gtest/gtest.h>

#include "harness/plan/listing.h"
#include "tests/support/article_rows.h"
#include "tests/support/failure_of.h"

namespace selection_test {

using namespace harness;

TEST(Selection, IdsAndAliasesOnceInOrder) {
  std::vector<Matrix> one = {article()};
  auto rows = select(one, "7, 0,o0,tmpfs,7,lmdb");
  std::vector<std::string> ids;
  for (const Row& row : rows) ids.push_back(row.id);
  EXPECT_EQ(ids, (std::vector<std::string>{"lmdb", "tmpfs", "0", "7"}));
  EXPECT_EQ(select(one, "").size(), 27u);
  const Matrix accuracy =
      load_matrix(SOURCE_DIR "/configs/accuracy.yaml", find_scale(scales(), "rehearsal"), values());
  EXPECT_EQ(select({accuracy}, "o0").at(0).id, "accuracy-o0");
  EXPECT_SAYS(refusal([&] { select(one, "7,ldmb"); }),
              "row ldmb: no such row; expected ids with commas between them (--list shows all); found "
              "'ldmb'; did you mean 'lmdb'?");
  EXPECT_SAYS(refusal([&] { select(one, ","); }), "names no row");
  EXPECT_SAYS(refusal([&] { select(one, "0,7-10"); }), "row 7-10: rows have no ranges");
  EXPECT_SAYS(refusal([&] { select({one[0], one[0]}, ""); }), "two files have a row of the same id");
}

TEST(Selection, SetIsAsRunAndWinsOverAll) {
  const Scale& scale = find_scale(scales(), "rehearsal");
  auto rows = select({article()}, "tmpfs,7");
  set_fields(rows, {"batch=48", "width=8", "cpus=2 C0", "seed=3", "seed=4"}, scale, values());
  EXPECT_EQ(rows[0].batch, 48);
  EXPECT_EQ(rows[1].width, 8);
  EXPECT_EQ(rows[1].cpus, 8);
  EXPECT_EQ(rows[0].title, "files on tmpfs; batch=48; cpus=8") << "other sizes are shown in a run's head";
  EXPECT_EQ(rows[1].seed, 4);
  set_fields(rows, {"window=100-399"}, scale, values());
  EXPECT_EQ(rows[0].warmup_batches, 30);
  auto set = [&](const std::string& text) {
    return refusal([&] { set_fields(rows, {text}, scale, values()); });
  };
  EXPECT_SAYS(set("bach=48"), "did you mean 'batch'?");
  EXPECT_SAYS(set("batch"), "key=value");
  EXPECT_SAYS(set("batch=4.5"), "--set batch=4.5: wrong value of 'batch'");
  for (const char* field : {"id", "base", "published_s"})
    EXPECT_SAYS(set(field + std::string("=1")),
                "'" + std::string(field) +
                    "' describes the row, and --set can't change it; set it in the matrix file");
  EXPECT_SAYS(set("cache=cold"), "row 'tmpfs': no page cache");
  EXPECT_SAYS(set("strategy=dpp"), "did you mean 'ddp'?");
}

TEST(Selection, RowsGetTheBackendOfTheirKindOfDevice) {
  AxisValues known = values();
  known["backend"][3].traits.device = "cuda";
  known["backend"].push_back({"timed", "", {.device = "timed"}, ""});
  known["device"].push_back({"timed", "", {.computes = false}, ""});
  const auto backend_of = [&](const std::string& row, const std::string& device, bool oversubscribe = false) {
    std::vector<Row> rows = select({article()}, row);
    rows[0].device = device;
    choose_backends(rows, oversubscribe, known);
    return rows[0].backend;
  };
  EXPECT_EQ(backend_of("12", "cpu"), "mpi");
  EXPECT_EQ(backend_of("12", "cuda"), "nccl");
  EXPECT_EQ(backend_of("12", "cuda", /*oversubscribe=*/true), "gloo");
  EXPECT_EQ(backend_of("15", "cuda"), "mpi") << "Horovod negotiates in host memory";
  EXPECT_EQ(backend_of("15", "timed", /*oversubscribe=*/true), "timed");
  EXPECT_EQ(backend_of("7", "timed"), "none") << "DataParallel has no collectives";
}

TEST(Selection, WhatNeedsValuesIsRefusedOnDevicesThatDontCompute) {
  AxisValues known = values();
  known["device"].push_back({"timed", "", {.computes = false}, ""});
  const auto set = [&](const std::string& assignment) {
    std::vector<Row> rows = select({article()}, "0");
    return refusal([&] {
      set_fields(rows, {"device=timed", assignment}, find_scale(scales(), "rehearsal"), known);
    });
  };
  EXPECT_SAYS(set("validation=true"), "device timed computes no values: there is no accuracy");
  EXPECT_SAYS(set("host_work_ms=1"), "host_work_ms is not modelled on device timed");
  EXPECT_EQ(set("prefetch=true"), "no error");
}

TEST(Selection, WhatARowFixesAsRunOutlivesSet) {
  const Matrix matrix = load_matrix(std::filesystem::path(SOURCE_DIR) / "configs/bottlenecks.yaml",
                                    find_scale(scales(), "rehearsal"), values());
  auto rows = select({matrix}, "one-loader-thread,twice-the-model");
  set_fields(rows, {"timed_batches=60"}, find_scale(scales(), "rehearsal"), values());
  EXPECT_EQ(rows[0].image_px, 32);
  EXPECT_EQ(rows[0].loader_threads, 1);
  EXPECT_EQ(rows[1].width, 32);
  EXPECT_EQ(rows[1].timed_batches, 60);
}

TEST(Selection, DevicesAreRederivedInProportion) {
  auto rows = article().rows;
  auto notes = rederive_for_devices(rows, 8, values());
  EXPECT_EQ(row_of(rows, "2").devices, 4);
  EXPECT_EQ(row_of(rows, "3").devices, 6);
  EXPECT_EQ(row_of(rows, "7").devices, 8);
  EXPECT_EQ(row_of(rows, "0").devices, 1);
  EXPECT_EQ(notes.count("0"), 0u);
  EXPECT_EQ(notes.at("7")[0], "devices: 8 instead of 4");

  rows = article().rows;
  notes = rederive_for_devices(rows, 2, values());
  EXPECT_EQ(row_of(rows, "4").devices, 2);
  EXPECT_EQ(notes.at("4").back(), "the same setup as row 2 with this number of devices");
  EXPECT_EQ(notes.count("2"), 0u);

  rows = article().rows;
  notes = rederive_for_devices(rows, 3, values());
  EXPECT_EQ(row_of(rows, "12").batch, 30);
  EXPECT_EQ(row_of(rows, "7").batch, 32);
  EXPECT_SAYS(notes.at("12")[1], "batch: 30 instead of 32");
  EXPECT_SAYS(refusal([&] { rederive_for_devices(rows, 1, values()); }), "--devices 1");
  EXPECT_SAYS(refusal([&] { rederive_for_devices(rows, 64, values()); }),
              "smaller than the number of devices");
}

TEST(Listing, SaysWhatARowIsAndWhatIsMissing) {
  const Scale& scale = find_scale(scales(), "rehearsal");
  std::string text = list_rows(article().rows, scale);
  EXPECT_SAYS(text, "LMDB shuffled");
  EXPECT_SAYS(text, "336.524 s");
  EXPECT_SAYS(text, "2 x 4");
  auto parsed = nlohmann::json::parse(list_rows_as_json(article().rows));
  EXPECT_EQ(parsed.size(), 27u);
  EXPECT_EQ(decode<Row>(parsed[0]).id, "disk");
  EXPECT_SAYS(list_values(values()), "[missing: the MPI backend is not built yet]");
  for (const Field& field : fields()) EXPECT_SAYS(list_fields(), field.help);
}

}  // namespace selection_test

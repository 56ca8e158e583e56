// unit: matrix files resolve as written, and each fault is refused with its file, its line and the rule
#include "harness/config/config.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>

#include "harness/config/nearest.h"
#include "tests/support/article_rows.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace config_test {

using namespace harness;
namespace fs = std::filesystem;

const fs::path source = SOURCE_DIR;

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) { std::ofstream(path_, std::ios::binary) << text; }
  const fs::path& path() const { return path_; }

 private:
  const TemporaryFolder folder_;
  const fs::path path_ = folder_ / "matrix.yaml";
};

std::vector<Row> rows_from(const std::string& text, const std::string& scale = "rehearsal") {
  TemporaryFile file(text);
  return load_matrix(file.path(), find_scale(scales(), scale), values()).rows;
}

std::string error_of(const fs::path& file) {
  try {
    if (file.filename().string().rfind("scales-", 0) == 0)
      load_scales(file);
    else
      load_matrix(file, find_scale(scales(), "rehearsal"), values());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

std::string error_of_text(const std::string& text) {
  TemporaryFile file(text);
  return error_of(file.path());
}

// The text between the first fence after `heading` and its end.
std::string example_of(const fs::path& page, const std::string& heading) {
  std::ifstream stream(page);
  const std::string text(std::istreambuf_iterator<char>(stream), {});
  const size_t fence = text.find("\n```", text.find(heading)), begin = text.find('\n', fence + 1) + 1;
  return text.substr(begin, text.find("\n```", begin) + 1 - begin);
}

TEST(Documentation, ItsMatricesAreWhatItSays) {
  const std::string example = example_of(source / "docs/extending.md", "## The matrix file");
  const auto rows = rows_from(example);
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].batch, 256 / 16);
  EXPECT_EQ(rows[1].base, "half");
  EXPECT_EQ(rows[2].batch, rows[1].batch) << "taken over with `like`";
  EXPECT_EQ(rows[2].precision, "bf16");
  EXPECT_EQ(rows[3].batch, 64) << "as_run";
  EXPECT_EQ(rows[3].storage, "tmpfs");
  EXPECT_EQ(rows_from(example + example_of(source / "docs/extending.md", "### Tables of a matrix")).size(),
            4u);
  EXPECT_EQ(rows_from(example_of(source / "README.md", "A matrix of your own can be as")).size(), 2u);
}

TEST(AsRun, HoldsWhateverTheScaleAndIsTakenOverByLike) {
  for (const char* scale : {"rehearsal", "smoke", "article"}) {
    const auto rows = rows_from(
        "rows:\n"
        "  a: {batch: 512, as_run: {width: 24, loader_threads: 1, batch: 64}}\n"
        "  b: {like: a, as_run: {width: 40}}\n",
        scale);
    EXPECT_EQ(rows[0].width, 24) << scale;
    EXPECT_EQ(rows[0].batch, 64) << scale << ": not divided";
    EXPECT_EQ(rows[1].width, 40) << scale << ": its own value overrides that of `like`";
    EXPECT_EQ(rows[1].loader_threads, 1) << scale;
    const Scale& here = find_scale(scales(), scale);
    EXPECT_EQ(record_of(rows[0], here).batch_divisor, 1) << "the cascade shows the batch as it ran";
    EXPECT_EQ(batch_divisor_of(rows[0], here), 1) << "an emulated device computes so many images, not more";
    EXPECT_EQ(batch_divisor_of(rows_from("rows: {c: {batch: 512}}\n", scale)[0], here), here.batch_divisor);
  }
  EXPECT_EQ(rows_from("rows: {d: {batch: 20, as_run: {batch: 20}}}\n", "emulated")[0].batch, 20)
      << "though the scale divides by 32";
}

TEST(Faults, EachIsRefusedWithFileLineAndRule) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(source / "tests/config/refused")) {
    std::ifstream stream(entry.path());
    std::string line;
    std::getline(stream, line);
    const std::string key = "# expect: ";
    ASSERT_EQ(line.rfind(key, 0), 0u) << entry.path();
    std::string rule = line.substr(key.size()), place = entry.path().string() + ":";
    for (int number = 2; std::getline(stream, line); ++number)
      if (contains(line, "# here")) place += std::to_string(number) + ":";
    std::string error = error_of(entry.path());
    EXPECT_EQ(error.rfind(place, 0), 0u) << "expected at " << place << "\n  " << error;
    EXPECT_SAYS(error, rule) << "expected: " << rule;
    EXPECT_FALSE(contains(error, "\n")) << error;
    ++files;
  }
  EXPECT_GE(files, 70);
}

TEST(Faults, EveryNumberHasLimits) {
  for (const Field& field : fields())
    if (field.is_number())
      for (const char* number : {"1e308", "-1"}) {
        const std::string error =
            error_of_text("rows:\n  a:\n    " + std::string(field.name) + ": " + number + "\n");
        EXPECT_SAYS(error, fmt::format("yaml:3: wrong value of '{}'", field.name));
      }
  const auto expect = [](const std::string& field, const std::string& limits) {
    const std::string error = error_of_text("rows: {a: {" + field + ": 1e-300}}\n");
    EXPECT_SAYS(error, "expected a number from " + limits + ", or 0; found '1e-300'");
  };
  expect("read_rate", "1 to 1000000000000 bytes/s");
  expect("core_images_per_s", "0.001 to 1000000 images/s");
  expect("link_rate_mbit", "0.001 to 1000000 Mbit/s");
  expect("store_rate_mbit", "0.001 to 1000000 Mbit/s");
}

TEST(Faults, FilesThatAreNoConfiguration) {
  EXPECT_SAYS(error_of("/nowhere/a.yaml"), "/nowhere/a.yaml: no such file");
  EXPECT_SAYS(error_of(source / "configs"), "found a folder");
  EXPECT_SAYS(error_of("/dev/zero"), "is not a regular file");
  EXPECT_SAYS(error_of_text(""), "empty file");
  EXPECT_SAYS(error_of_text("rows: {a: {}}\n# \xff\xfe\n"), "yaml:2: binary data");
  EXPECT_SAYS(error_of_text(std::string("\x7f"
                                        "ELF\0\1\2",
                                        7)),
              "binary data");
  EXPECT_SAYS(error_of_text(std::string((1 << 20) + 1, '#')), "at most 1 MiB");
}

TEST(Faults, UnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "the superuser reads everything";
  TemporaryFile file("rows: {a: {}}");
  fs::permissions(file.path(), fs::perms::none);
  EXPECT_SAYS(failure_of([&] { error_of(file.path()); }), "can't be read: Permission denied");
}

TEST(Faults, HugeNestingEndsSoon) {
  auto start = std::chrono::steady_clock::now();
  for (const char* piece : {"[", "{", "- ", "? ", "[a: ", "!", "&a "}) {
    std::string text = "rows: ";
    while (text.size() < 200000) text += piece;
    EXPECT_NE(error_of_text(text), "no error") << piece;
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Faults, SmallFilesThatStandForHugeOnesEndSoon) {
  const auto start = std::chrono::steady_clock::now();
  const auto expect = [](const std::string& text, const std::string& rule) {
    EXPECT_SAYS(error_of_text(text), rule);
  };
  std::string list = "[0", aliased, chain = "rows:\n  r0: {}\n";
  for (int i = 1; i < 1000; ++i) list += ", " + std::to_string(i);
  aliased = "rows:\n  r0: {seed: &l " + list + "]}\n";
  for (int i = 1; i < 3000; ++i) aliased += fmt::format("  r{}: {{seed: *l}}\n", i);
  expect(aliased, "too large with every alias written out");
  expect("rows: &a {b: *a}\n", "too large with every alias written out");
  for (int i = 1; i < 1000; ++i) chain += fmt::format("  r{}: {{like: r{}}}\n", i, i - 1);
  expect(chain, "`like:` follows too many rows; expected at most 32");
  for (int i = 1000; i < 20000; ++i) chain += fmt::format("  r{}: {{like: r{}}}\n", i, i - 1);
  expect(chain, "yaml:1002: too many rows; expected at most 1000 in a matrix");
  expect("rows: {a: {seed: " + list + "]}, b: {}}\n", "too many rows");
  expect("rows: {a: {seed: " + list + ", 1000]}}\n", "the list of 'seed' is too long");
  expect("rows: {a: {title: " + std::string(5000, 'x') + "}}\n", "'title' is too long");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Matrix, LaterLayersWin) {
  auto rows = rows_from(
      "defaults: {seed: 2, order: in_order, momentum: 0.5, width: 8}\n"
      "rows:\n"
      "  c: {like: b, momentum: 0.8}\n"
      "  b: {like: a, momentum: 0.7, title: second}\n"
      "  a: {momentum: 0.6, order: shuffled, published_s: 5, weight_decay: 0.5}\n");
  const Row& c = rows[0];
  EXPECT_EQ(c.seed, 2);            // defaults over the field's default
  EXPECT_EQ(c.order, "shuffled");  // like over defaults
  EXPECT_EQ(c.weight_decay, 0.5);  // through a chain
  EXPECT_EQ(c.momentum, 0.8);      // the row over like
  EXPECT_EQ(c.width, 16);          // the scale over all
  EXPECT_EQ(c.published_s, 0);     // what the article says of another row
  EXPECT_EQ(c.title, "c");
  EXPECT_EQ(rows[2].published_s, 5);
}

TEST(Matrix, CountsInC0) {
  auto rows = rows_from(
      "rows: {a: {cpus: 1.5 C0, loader_threads: 3C0}, b: {cpus: 0.01 C0, loader_threads: 0}, c: {}}");
  EXPECT_EQ(rows[0].cpus, 6);
  EXPECT_EQ(rows[0].loader_threads, 12);
  EXPECT_EQ(rows[1].cpus, 1);
  EXPECT_EQ(rows[1].loader_threads, 0);
  EXPECT_EQ(rows[2].cpus, 4);
  EXPECT_EQ(rows_from("rows: {a: {cpus: 1.5 C0}}", "article")[0].cpus, 24);
}

TEST(Matrix, InferredAddsUpAndScalarAliasesWork) {
  auto rows = rows_from(
      "defaults: {inferred: 'cpus, batch', seed: &seed 7}\n"
      "rows: {a: {inferred: [order, window], timed_batches: *seed}, b: {}, c: {like: a}}");
  EXPECT_EQ(rows[0].inferred, "cpus,batch,order,window");
  EXPECT_EQ(rows[1].inferred, "cpus,batch");
  EXPECT_EQ(rows[2].inferred, "cpus,batch");
}

TEST(Matrix, WithoutValuesAxesAreNotChecked) {
  TemporaryFile file("rows: {a: {storage: punched_cards}}");
  EXPECT_EQ(load_matrix(file.path(), scales()[0], {}, "cuda").rows[0].device, "cuda");
}

TEST(Nearest, CountsEditsAndKeepsSilentWhenFar) {
  EXPECT_EQ(nearest("LDMB", {"raw", "ldmbxx", "lmdb"}), "lmdb") << "one edit, and case doesn't count";
  EXPECT_EQ(nearest("batchsize", {"seed", "batch_size"}), "batch_size");
  EXPECT_EQ(nearest("x", {"lmdb", "y"}), "");
  EXPECT_EQ(nearest("gpu", {"cpu", "cuda"}), "") << "another word";
  EXPECT_EQ(nearest("77", {"7", "17"}), "") << "a number";
  EXPECT_EQ(nearest("dpp", {"single", "ddp"}), "ddp");
  EXPECT_EQ(nearest("v100", {"a100", "v100-article"}), "v100-article") << "begins with it";
  EXPECT_EQ(nearest(std::string(100000, 'a'), {"lmdb"}), "");
}

}  // namespace config_test

// unit: mapped files: page faults of a record come when it is read, not when it is decoded
#include "bench/formats/mapped_file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <numeric>

#include "harness/base/file.h"
#include "tests/support/temporary_folder.h"

namespace bench::mapped_file_test {

int64_t faults() {
  struct rusage usage {};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_minflt + usage.ru_majflt;
}

int64_t sum(std::span<const uint8_t> bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), int64_t{0});
}

TEST(MappedFile, TouchedPagesCauseNoFaultsLater) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "each read touches ThreadSanitizer's own memory, too";
#endif
  const TemporaryFolder folder;
  const auto file = folder.path() / "bytes";
  constexpr size_t kBytes = 32 << 20;
  base::write_whole_file(file, std::string(kBytes, 'a'), /*durable=*/false);
  const MappedFile cold(file, true, "next step"), touched(file, true, "next step");
  const std::span<const uint8_t> record = touched.bytes().subspan(100, kBytes - 200);
  touch_pages(record);
  const int64_t before = faults();
  const int64_t all = sum(record);
  const int64_t after_touching = faults() - before;
  EXPECT_EQ(all, int64_t{'a'} * int64_t(record.size()));
  const int64_t middle = faults();
  EXPECT_EQ(sum(cold.bytes().subspan(100, kBytes - 200)), all);
  const int64_t without = faults() - middle;
  EXPECT_GT(without, 8);  // the kernel maps several pages at a fault
  EXPECT_LT(after_touching, without / 4);
  touch_pages({});
}

}  // namespace bench::mapped_file_test

// unit: The environment of ranks with other allocators, and without the decoder's vector instructions.
#include <gtest/gtest.h>

#include "harness/launch/rank_program.h"
#include "tests/support/temporary_folder.h"

namespace harness::allocator_test {
namespace {

Row row_with(const std::string& malloc) {
  Row row;
  row.malloc = malloc;
  return row;
}

std::map<std::string, std::string> environment_of(const Row& row) {
  base::Command command;
  prepare_rank(command, row);
  return command.environment;
}

TEST(Allocator, IsLoadedBeforeTheCLibrary) {
  ::unsetenv("LD_PRELOAD");
  EXPECT_EQ(environment_of(row_with("jemalloc")).at("LD_PRELOAD"), "libjemalloc.so.2");
  EXPECT_EQ(environment_of(row_with("tcmalloc")).at("LD_PRELOAD"), "libtcmalloc_minimal.so.4");
  for (const char* own : {"system", "retain"}) {
    EXPECT_EQ(environment_of(row_with(own)).count("LD_PRELOAD"), 0u) << own;
    EXPECT_EQ(why_no_allocator(row_with(own)), "") << own;
  }
  EXPECT_EQ(environment_of(row_with("system")).count("MALLOC_ARENA_MAX"), 0u);
  EXPECT_EQ(environment_of(row_with("retain")).at("MALLOC_ARENA_MAX"), "1");
}

TEST(Allocator, StandsBesideOtherPreloadedLibraries) {
  ::setenv("LD_PRELOAD", "libm.so.6", 1);
  base::Command command;
  prepare_rank(command, row_with("tcmalloc"));
  Installation installation;
  installation.listen_address = "/somewhere/listen_address.so";
  listen_on(command, "127.0.0.1", installation);
  ::unsetenv("LD_PRELOAD");
  EXPECT_EQ(command.environment.at("LD_PRELOAD"),
            "/somewhere/listen_address.so:libtcmalloc_minimal.so.4:libm.so.6");
}

TEST(Allocator, AMissingLibraryIsNamedWithItsPackage) {
  for (const char* name : {"jemalloc", "tcmalloc"}) {
    const std::string why = why_no_allocator(row_with(name));
    EXPECT_TRUE(why.empty() || why.find("install package lib") != std::string::npos) << why;
  }
  // Where libraries are searched, there is none.
  ::setenv("LD_PRELOAD", "", 1);
  base::Command nothing{{"true"}, {}, {}, {}, {}};
  preload(nothing, "libno-such-allocator.so.9");
  nothing.errors_to_output = true;
  EXPECT_NE(base::run_to_end(nothing).output.find("libno-such-allocator.so.9"), std::string::npos)
      << "the loader names what it can't load, which why_no_allocator() looks for";
  ::unsetenv("LD_PRELOAD");
}

TEST(Allocator, ALibraryInAFolderWithABlankIsLoadedToo) {
  const TemporaryFolder folder;
  const std::filesystem::path library = folder / "my project: 1/list_opens.so";
  std::filesystem::create_directories(library.parent_path());
  std::filesystem::copy_file(BINARY_DIR "/list_opens.so", library);
  base::Command nothing{{"true"}, {}, {}, {}, {}};
  preload(nothing, library);
  nothing.errors_to_output = true;
  EXPECT_EQ(base::run_to_end(nothing).output, "") << "ld.so names what it can't load";
  std::filesystem::remove(nothing.environment.at("LD_PRELOAD"));
}

TEST(Allocator, TheDecoderMayWorkWithoutVectorInstructions) {
  Row row;
  EXPECT_EQ(environment_of(row).count("JSIMD_FORCENONE"), 0u);
  row.jpeg_simd = false;
  EXPECT_EQ(environment_of(row).at("JSIMD_FORCENONE"), "1");
}

}  // namespace
}  // namespace harness::allocator_test

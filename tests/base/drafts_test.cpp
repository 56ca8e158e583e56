// unit: drafts of files that killed programs left are removed, and nobody else's
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "harness/base/file.h"
#include "harness/base/scratch.h"

namespace base::drafts_test {

namespace fs = std::filesystem;

struct Drafts : testing::Test {
  Scratch scratch{fs::temp_directory_path(), "drafts"};
  fs::path made(const std::string& name) {
    const fs::path file = scratch.path() / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "half";
    return file;
  }
};

TEST_F(Drafts, OfAFolderAndBelow) {
  const fs::path here = made("a.json.7-0.partial"), below = made("rows/b.7-12.partial");
  const fs::path others[] = {made("film.partial"), made("a.json.7.partial"), made("v1.x-2.partial"),
                             made("c.7-0.json")};
  remove_drafts(scratch.path(), /*below=*/false);
  EXPECT_FALSE(fs::exists(here));
  EXPECT_TRUE(fs::exists(below));
  remove_drafts(scratch.path());
  EXPECT_FALSE(fs::exists(below));
  for (const fs::path& other : others) EXPECT_TRUE(fs::exists(other)) << other;
  remove_drafts(scratch.path() / "missing");
}

TEST_F(Drafts, OfOneFileByProgramsThatHaveEnded) {
  const pid_t ended = ::fork();
  if (ended == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(ended, nullptr, 0), ended);
  const auto draft = [&](const std::string& file, pid_t writer) {
    return made(file + "." + std::to_string(writer) + "-3.partial");
  };
  const fs::path dead = draft("junit.xml", ended), own = draft("junit.xml", ::getpid());
  const fs::path others[] = {draft("junit.xml", ::getppid()), draft("other.xml", ended), made("junit.xml")};
  remove_drafts_of(scratch.path() / "junit.xml");
  EXPECT_FALSE(fs::exists(dead));
  EXPECT_FALSE(fs::exists(own));
  for (const fs::path& other : others) EXPECT_TRUE(fs::exists(other)) << other;
}

}  // namespace base::drafts_test

// unit: load_list answers on standard input as other loaders' drivers expect, and refuses bad lists and
// words.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>

#include "bench/image/decode.h"
#include "tests/support/small_images.h"

namespace bench::load_list_test {

struct Answer {
  int code = -1;
  std::string text;  // standard output, then standard error
};

class LoadList : public testing::Test {
 protected:
  // `input` goes to standard input; a list of `lines` is written first.
  Answer run(const std::string& lines, const std::string& input, const std::string& options = "") {
    const auto list = folder_.path() / "list.tsv", words = folder_.path() / "words";
    std::ofstream(list) << lines;
    std::ofstream(words) << input;
    const std::string command = std::string(BINARY_DIR) + "/load_list --list '" + list.string() + "' " +
                                options + " < '" + words.string() + "' 2>&1";
    FILE* pipe = popen(command.c_str(), "r");
    Answer answer;
    for (int c; (c = std::fgetc(pipe)) != EOF;) answer.text += static_cast<char>(c);
    const int status = pclose(pipe);
    answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return answer;
  }
  std::string line(const std::string& name, int seed, const std::string& numbers) {
    const auto path = folder_.path() / name;
    write_bytes(path, small_jpeg(80, 60, static_cast<uint32_t>(seed)));
    return path.string() + "\t" + numbers + "\n";
  }
  TemporaryFolder folder_;
};

TEST_F(LoadList, GoLoadsWholeBatchesAndDumpWritesPixels) {
  const std::string lines =
      line("a.JPEG", 1, "0\t0\t80\t60\t0") + line("b with\ttab.JPEG", 2, "10\t5\t40\t30\t1");
  const auto raw = folder_.path() / "raw";
  const Answer answer =
      run(lines, "go\ndump " + raw.string() + " 9\ngo\n", "--threads 2 --batch 2 --output uint8");
  ASSERT_EQ(answer.code, 0) << answer.text;
  std::istringstream words(answer.text);
  std::string ready, done;
  int images = 0, again = 0;
  double seconds = 0;
  words >> ready >> images >> seconds >> done >> again;
  EXPECT_EQ(ready, "ready");
  EXPECT_EQ(images, 2);
  EXPECT_GT(seconds, 0);
  EXPECT_EQ(done, "done");
  EXPECT_EQ(again, 2);
  Bytes expected(2 * 3 * 224 * 224);
  Decoder decoder;
  decoder.crop_to_uint8(small_jpeg(80, 60, 1), {{0, 0, 80, 60}, false}, 224, expected.data());
  decoder.crop_to_uint8(small_jpeg(80, 60, 2), {{10, 5, 40, 30}, true}, 224, expected.data() + 3 * 224 * 224);
  EXPECT_EQ(read_bytes(raw), expected);
}

TEST_F(LoadList, FloatsAreDumpedAsPlanes) {
  const auto raw = folder_.path() / "raw";
  const Answer answer = run(line("a.JPEG", 1, "0\t0\t80\t60\t0"), "dump " + raw.string() + " 1\n");
  ASSERT_EQ(answer.code, 0) << answer.text;
  std::vector<float> expected(3 * 224 * 224);
  Decoder().crop_to_float(small_jpeg(80, 60, 1), {{0, 0, 80, 60}, false}, 224, expected.data());
  const Bytes bytes = read_bytes(raw);
  ASSERT_EQ(bytes.size(), 4 * expected.size());
  EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
}

TEST_F(LoadList, BadInputIsNamed) {
  const std::string good = line("a.JPEG", 1, "0\t0\t80\t60\t0");
  const auto expect = [&](const std::string& lines, const std::string& input, const std::string& message) {
    const Answer answer = run(lines, input);
    EXPECT_EQ(answer.code, 2) << answer.text;
    EXPECT_NE(answer.text.find(message), std::string::npos) << answer.text;
  };
  expect("", "go\n", "lists no image");
  expect("a.JPEG\n", "go\n", "list.tsv:1: expected path and five numbers");
  expect(good + "b.JPEG\t1\t2\t3\t4\tx\n", "go\n", "list.tsv:2: expected a number of at least 0, found x");
  expect("b.JPEG\t-1\t2\t3\t4\t0\n", "go\n", "expected a number of at least 0, found -1");
  expect("b.JPEG\t1\t2\t3\t4\t2\n", "go\n", "flip is neither 0 nor 1");
  expect(good, "stop\n", "`stop` on standard input: expected `go` or `dump PATH K`");
  expect(line("c.JPEG", 3, "70\t0\t80\t60\t0"), "go\n", "the crop box is not within the image");
  expect((folder_.path() / "none.JPEG").string() + "\t0\t0\t1\t1\t0\n", "go\n", "none.JPEG");
}

}  // namespace bench::load_list_test

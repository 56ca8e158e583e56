// libFuzzer's entry to the codecs: bytes that are read as a struct of the contract or of a file that
// run_matrix or make_dataset keeps are refused with a sentence, or they are written and read again as the
// same. tests/fuzz/run builds it, makes its seeds and runs it; with CODEC_FUZZ_READS_ALL set, as for the
// seeds, a refusal is a failure.
#include <cstdlib>
#include <iostream>
#include <string>

#include "bench/dataset/standin_record.h"
#include "bench/formats/packed_copy.h"
#include "harness/base/json_text.h"
#include "harness/config/request.h"
#include "harness/contract/axis_values.h"
#include "harness/contract/dataset.h"
#include "harness/contract/job.h"
#include "harness/contract/rank_report.h"
#include "harness/contract/record.h"
#include "harness/nightly/history.h"
#include "harness/nightly/open_night.h"
#include "harness/nightly/trend.h"
#include "harness/plan/prediction.h"

// Returns why `text` is refused, or an empty text.
template <class T>
static std::string there_and_back(const std::string& text) {
  T value;
  try {
    value = harness::decode<T>(base::require_json(text));
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  const auto dump = [](const T& it) {
    return harness::encode(it).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  const std::string once = dump(value);
  if (const std::string twice = dump(harness::decode<T>(base::require_json(once))); once != twice) {
    std::cerr << once << "\nis read and written as\n" << twice << '\n';
    std::abort();
  }
  return "";
}

// The first byte of the input chooses one; codec_seeds.py has the same order.
static constexpr std::string (*kStructs[])(const std::string&) = {
    there_and_back<harness::Record>,      there_and_back<harness::RankReport>,
    there_and_back<harness::Job>,         there_and_back<harness::Row>,
    there_and_back<harness::AxisValue>,   there_and_back<harness::Night>,
    there_and_back<harness::OpenNight>,   there_and_back<harness::Alarm>,
    there_and_back<harness::Request>,     there_and_back<std::vector<harness::PastDuration>>,
    there_and_back<harness::IndexHeader>, there_and_back<bench::PackRecord>,
    there_and_back<bench::StandinRecord>};

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool reads_all = std::getenv("CODEC_FUZZ_READS_ALL");
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string why = kStructs[data[0] % std::size(kStructs)](text);
  if (reads_all && !why.empty()) {
    std::cerr << "struct " << int(data[0]) << " is refused: " << why << '\n' << text << '\n';
    std::abort();
  }
  return 0;
}

// libFuzzer's entry to the codecs: bytes that are read as a struct of the contract are refused with a sentence, or they
// are written and read again as the same. tests/fuzz/run builds it, makes its seeds and runs it.
#include <cstdlib>
#include <iostream>
#include <string>

#include "harness/base/json_text.h"
#include "harness/contract/axis_values.h"
#include "harness/contract/job.h"
#include "harness/contract/rank_report.h"
#include "harness/contract/record.h"

template <class T>
static void there_and_back(const std::string& text) {
  T value;
  try {
    value = harness::decode<T>(base::require_json(text));
  } catch (const std::runtime_error&) {
    return;
  }
  const auto dump = [](const T& it) {
    return harness::encode(it).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  const std::string once = dump(value);
  if (const std::string twice = dump(harness::decode<T>(base::require_json(once))); once != twice) {
    std::cerr << once << "\nis read and written as\n" << twice << '\n';
    std::abort();
  }
}

// The first byte chooses the struct.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 5) {
    case 0: there_and_back<harness::Record>(text); break;
    case 1: there_and_back<harness::RankReport>(text); break;
    case 2: there_and_back<harness::Job>(text); break;
    case 3: there_and_back<harness::Row>(text); break;
    case 4: there_and_back<harness::AxisValue>(text); break;
  }
  return 0;
}

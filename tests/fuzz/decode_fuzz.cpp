// libFuzzer's entry to the decoder; tests/fuzz/run builds it, makes its seeds and runs it.
#include "tests/fuzz/decode_case.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  bench::decode_case({data, size});
  return 0;
}

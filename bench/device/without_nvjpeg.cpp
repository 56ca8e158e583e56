// Stands in for cuda_jpeg.cpp in a build that found no nvJPEG: the harness skips rows that ask for it.
#include <stdexcept>

#include "bench/device/cuda_jpeg.h"

namespace bench {

bool has_nvjpeg() { return false; }

DeviceDecoding decode_with_nvjpeg(int, Huffman) { throw std::logic_error("this build has no nvJPEG"); }

std::string nvjpeg_version() { throw std::logic_error("this build has no nvJPEG"); }

}  // namespace bench

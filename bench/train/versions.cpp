
#include <build_info.h>
#include <lmdb.h>
#include <png.h>

#include <cstdio>

#include "bench/train/rank_report.h"

extern "C" {  // after <cstdio>, which it needs and does not include
#include <jpeglib.h>
}

namespace bench {

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

std::map<std::string, std::string> library_versions() {
  return {{"libtorch", BUILD_LIBTORCH},
          {"libjpeg_turbo", TEXT(LIBJPEG_TURBO_VERSION)},
          {"lmdb", mdb_version(nullptr, nullptr, nullptr)},
          {"libpng", png_get_libpng_ver(nullptr)}};
}

}  // namespace bench

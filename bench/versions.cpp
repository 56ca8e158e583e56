#include "bench/versions.h"

#include <build_info.h>
#include <jpeglib.h>
#include <lmdb.h>
#include <png.h>

#include <cstdio>

namespace bench {

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

nlohmann::json library_versions() {
  return {{"libtorch", BUILD_LIBTORCH},
          {"libjpeg_turbo", TEXT(LIBJPEG_TURBO_VERSION)},
          {"lmdb", mdb_version(nullptr, nullptr, nullptr)},
          {"libpng", png_get_libpng_ver(nullptr)}};
}

}  // namespace bench

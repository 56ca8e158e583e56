// Collects the versions of the linked libraries and of a preloaded memory allocator.

#include <build_info.h>
#include <dlfcn.h>
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

// The allocator that was loaded in place of the C library's; empty: none.
static std::map<std::string, std::string> preloaded_allocator() {
  using Control = int (*)(const char*, void*, size_t*, void*, size_t);
  const char* text = nullptr;
  size_t size = sizeof text;
  if (const auto control = reinterpret_cast<Control>(dlsym(RTLD_DEFAULT, "mallctl")))
    return {{"jemalloc", control("version", &text, &size, nullptr, 0) == 0 ? text : "?"}};
  using Version = const char* (*)(int*, int*, const char**);
  if (const auto version = reinterpret_cast<Version>(dlsym(RTLD_DEFAULT, "tc_version"))) {
    int major = 0, minor = 0;
    return {{"tcmalloc", version(&major, &minor, &text)}};
  }
  return {};
}

std::map<std::string, std::string> library_versions() {
  std::map<std::string, std::string> all = {{"libtorch", BUILD_LIBTORCH},
                                            {"libjpeg_turbo", TEXT(LIBJPEG_TURBO_VERSION)},
                                            {"lmdb", mdb_version(nullptr, nullptr, nullptr)},
                                            {"libpng", png_get_libpng_ver(nullptr)}};
  all.merge(preloaded_allocator());
  return all;
}

}  // namespace bench

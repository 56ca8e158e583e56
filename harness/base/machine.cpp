// Reads host name, time and processor flags from the system and /proc/cpuinfo.
#include "harness/base/machine.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "harness/base/plain_text.h"

namespace base {

std::string value_of(const char* file, const std::string& key) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.rfind(key, 0) != 0) continue;
    const size_t begin = line.find_first_not_of(" \t:=\"", key.size());
    if (begin == std::string::npos) return "";
    return line.substr(begin, line.find_last_not_of(" \"") + 1 - begin);
  }
  return "";
}

std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  const char* named =
      std::getenv("RUN_MATRIX_HOST");  // of a container, whose own name is another one every night
  std::string name = plain_text(named && *named ? named : host);
  for (char& c : name)
    if (c == '/' || c == '\n' || c == '\t') c = '-';  // it is a part of names of files
  return name;
}

std::string time_and_host() {
  return fmt::format("{:%Y%m%dT%H%M%S}-{}", fmt::localtime(std::time(nullptr)), host_name());
}

std::vector<std::string> sixteen_bit_instructions() {
  std::istringstream flags(value_of("/proc/cpuinfo", "flags"));
  const std::set<std::string> wanted = {"avx512_bf16", "amx_bf16", "avx512_fp16", "avx_ne_convert"};
  std::vector<std::string> found;
  for (std::string flag; flags >> flag;)
    if (wanted.count(flag)) found.push_back(flag);
  return found;
}

}  // namespace base

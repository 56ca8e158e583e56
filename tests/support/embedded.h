// What a page of plots/report.html holds, taken out of it again.
#pragma once
#include <gtest/gtest.h>
#include <yaml-cpp/binary.h>
#include <zlib.h>

#include <string>
#include <vector>

inline std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  return text.substr(from + begin.size(), text.find(end, from) - from - begin.size());
}

inline std::string unpacked(const std::string& packed_base64) {
  const std::vector<unsigned char> packed = YAML::DecodeBase64(packed_base64);
  z_stream stream{};
  inflateInit2(&stream, 16 + MAX_WBITS);
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  for (int result = Z_OK; result == Z_OK;) {
    Bytef part[65536];
    stream.next_out = part;
    stream.avail_out = sizeof part;
    result = inflate(&stream, Z_NO_FLUSH);
    EXPECT_TRUE(result == Z_OK || result == Z_STREAM_END) << result;
    text.append(reinterpret_cast<char*>(part), sizeof part - stream.avail_out);
  }
  inflateEnd(&stream);
  return text;
}

inline std::string element(const std::string& page, const std::string& id) {
  return between(page, "id=\"embedded-" + id + "\">", "</script>");
}

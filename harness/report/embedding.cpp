// zlib compresses; base64 comes from yaml-cpp, which is linked anyway to read the matrices.
#include "harness/report/embedding.h"

#include <yaml-cpp/binary.h>
#include <zlib.h>

#include <stdexcept>

namespace harness {
namespace {

constexpr int kGzip = 16 + MAX_WBITS;

std::string gzip(const std::string& bytes, Content content) {
  // Z_FILTERED avoids short matches, which cost more than they save in the digits of times. Memory level 5
  // makes small blocks, so that each phase gets a code for its digits. Together they save 7 % of a run.
  const bool times = content == Content::times;
  z_stream stream{};
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, times ? 5 : 9,
                   times ? Z_FILTERED : Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib can't compress the page's data: out of memory");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int result = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (result != Z_STREAM_END)
    throw std::runtime_error("zlib can't compress the page's data: more than 4 GiB");
  return packed;
}

}  // namespace

std::string base64(const std::string& bytes) {
  return YAML::EncodeBase64(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::string gzip_base64(const std::string& bytes, Content content) { return base64(gzip(bytes, content)); }

std::string json_for_html(const nlohmann::json& data) {
  std::string text;
  for (char c : data.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace))
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  return text;
}

std::string filled(const std::string& page_template, const std::map<std::string, std::string>& parts,
                   const std::string& name) {
  std::string page;
  size_t begin = 0;
  for (size_t open; (open = page_template.find("{{", begin)) != std::string::npos;) {
    const size_t close = page_template.find("}}", open);
    const std::string part = page_template.substr(open + 2, close - open - 2);
    if (close == std::string::npos || !parts.count(part))
      throw std::runtime_error(name + ": unknown part {{" + part + "}}; restore it from the repository");
    page += page_template.substr(begin, open - begin) + parts.at(part);
    begin = close + 2;
  }
  return page + page_template.substr(begin);
}

}  // namespace harness

// Reads images from an HTTP object store with one GET each; each loader thread keeps its connection open.
#include "bench/loading/storage/storage.h"

#ifdef HAVE_CURL
#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#endif

namespace bench {
namespace {

const Value kRemote = {"storage",
                       "remote",
                       "an HTTP object store (nginx on this machine), each image fetched with libcurl",
                       {.service = "http", .page_cache = false}};

#ifndef HAVE_CURL
[[maybe_unused]] const bool registered_storage_remote =
    register_missing(kRemote, "this build found no libcurl: install libcurl4-openssl-dev and build again");
#else

constexpr long kConnect_s = 10, kStalled_s = 30;  // timeouts for connecting and for the next byte
constexpr long kReceiveBuffer_bytes = 256 << 10;  // libcurl's default would split an image into seven pieces

class Remote : public DatasetStorage {
 public:
  explicit Remote(const StorageOptions& options)
      : DatasetStorage("remote", options.dataset), url_(options.location.string()) {
    if (url_.empty())
      throw std::runtime_error(
          "storage remote needs the URL of an object store; run_matrix starts one for each of its rows");
    if (url_.back() != '/') url_ += '/';
    Reader(*this).meet_server();
  }

  std::unique_ptr<StorageReader> reader() override { return std::make_unique<Reader>(*this); }

 private:
  class Reader : public StorageReader {
   public:
    explicit Reader(const Remote& remote) : remote_(remote) {
      static const CURLcode ready = curl_global_init(CURL_GLOBAL_DEFAULT);
      handle_ = ready == CURLE_OK ? curl_easy_init() : nullptr;
      if (!handle_) throw std::runtime_error("libcurl can't be initialised: out of memory?");
      set(CURLOPT_ERRORBUFFER, error_);
      set(CURLOPT_NOSIGNAL, 1L);  // the process has other threads
      set(CURLOPT_CONNECTTIMEOUT, kConnect_s);
      set(CURLOPT_LOW_SPEED_TIME, kStalled_s);
      set(CURLOPT_LOW_SPEED_LIMIT, 1L);
      set(CURLOPT_BUFFERSIZE, kReceiveBuffer_bytes);
      set(CURLOPT_NOPROXY, "*");  // ignore proxies of the environment: the server is local
      set(CURLOPT_PATH_AS_IS, 1L);
      set(CURLOPT_WRITEFUNCTION, &Reader::take);
      set(CURLOPT_WRITEDATA, this);
    }
    Reader(const Reader&) = delete;
    ~Reader() override { curl_easy_cleanup(handle_); }

    void meet_server() {
      set_path("");
      set(CURLOPT_NOBODY, 1L);
      const CURLcode code = curl_easy_perform(handle_);
      if (code != CURLE_OK || status() != 200) fail(code);
      set(CURLOPT_HTTPGET, 1L);  // resets NOBODY
    }

    EncodedImage read(int64_t record) override {
      const ImageEntry& image = remote_.dataset_.images.at(static_cast<size_t>(record));
      set_path(image.file());
      if (image.bytes < 0 || image.bytes > kMostImageBytes)
        throw std::runtime_error(fmt::format("{}: the index says that it has {} bytes; at most {} are read",
                                             url_, image.bytes, kMostImageBytes));
      const std::string range =
          image.offset < 0 ? "" : fmt::format("{}-{}", image.offset, image.offset + image.bytes - 1);
      set(CURLOPT_RANGE, range.empty() ? nullptr : range.c_str());
      const long answer = range.empty() ? 200 : 206;
      expected_ = static_cast<size_t>(image.bytes);
      received_ = 0;
      if (buffer_.size() < expected_) buffer_.resize(expected_);
      const CURLcode code = curl_easy_perform(handle_);
      if ((code != CURLE_OK && received_ <= expected_) || status() != answer) fail(code);
      if (received_ != expected_)
        throw std::runtime_error(fmt::format(
            "{}: received {} {} bytes, but the index says {}: does the server serve this data set?", url_,
            received_ > expected_ ? "at least" : "only", received_, expected_));
      return {{buffer_.data(), received_}, image.label};
    }

   private:
    template <class Value>
    void set(CURLoption option, Value value) {
      if (const CURLcode code = curl_easy_setopt(handle_, option, value); code != CURLE_OK)
        throw std::runtime_error(fmt::format("libcurl: {}", curl_easy_strerror(code)));
    }

    long status() const {
      long number = 0;
      curl_easy_getinfo(handle_, CURLINFO_RESPONSE_CODE, &number);
      return number;
    }

    [[noreturn]] void fail(CURLcode code) const {
      if (status() != 0 && status() / 100 != 2)
        throw std::runtime_error(fmt::format(
            "{}: the object store returned HTTP status {}: does it serve the folder that contains train/?",
            url_, status()));
      throw std::runtime_error(fmt::format("{}: {}; is the object store running and reachable?", url_,
                                           *error_ ? error_ : curl_easy_strerror(code)));
    }

    void set_path(const std::string& path) {
      *error_ = 0;
      url_ = remote_.url_;
      for (size_t begin = 0; begin < path.size();) {
        const size_t end = std::min(path.find('/', begin), path.size());
        // For curl_easy_escape, length 0 means strlen().
        if (char* segment =
                end > begin ? curl_easy_escape(handle_, path.data() + begin, int(end - begin)) : nullptr) {
          url_ += segment;
          curl_free(segment);
        }
        if (end < path.size()) url_ += '/';
        begin = end + 1;
      }
      set(CURLOPT_URL, url_.c_str());
    }

    static size_t take(char* bytes, size_t, size_t count, void* reader) {
      Reader& self = *static_cast<Reader*>(reader);
      const size_t before = self.received_;
      self.received_ += count;
      if (self.received_ > self.expected_) return 0;  // ends the transfer
      std::memcpy(self.buffer_.data() + before, bytes, count);
      return count;
    }

    const Remote& remote_;
    CURL* handle_ = nullptr;
    char error_[CURL_ERROR_SIZE] = "";
    std::string url_;
    std::vector<uint8_t> buffer_;
    size_t expected_ = 0, received_ = 0;
  };

  std::string url_;
};

[[maybe_unused]] const bool registered_storage_remote = StorageRegistry::instance().add(
    kRemote, [](const StorageOptions& options) { return std::make_unique<Remote>(options); });
#endif

}  // namespace
}  // namespace bench

// Readers of images: packed copies, an object store's answers, and the files of other tools.
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef HAVE_CURL
#include <curl/curl.h>
#endif

#include <cstring>
#include <thread>

#include "bench/dataset/containers.h"
#include "bench/formats/raw_index.h"
#include "bench/formats/tfrecord_frame.h"
#include "bench/loading/storage/storage.h"
#include "harness/base/file.h"
#include "tests/fuzz/reader.h"

namespace {

namespace fs = std::filesystem;

// ------------------------------------------------------------------------------------------ packed copies

bench::Dataset five_images() {
  bench::Dataset dataset;
  dataset.fingerprint = "a8a07dbe08c1d19f";  // of the images of reader_seeds.py
  dataset.classes = {"a", "b"};
  for (int i = 0; i < 5; ++i)
    dataset.images.push_back({"train/a/" + std::to_string(i) + ".JPEG", 0, 100 + i});
  return dataset;
}

void read_all(bench::Storage& storage) {
  const auto reader = storage.reader();
  for (int64_t record = 0; record < storage.size(); ++record) {
    const bench::EncodedImage image = reader->read(record);
    volatile uint8_t sum = 0;
    for (const uint8_t byte : image.bytes) sum = uint8_t(sum + byte);
  }
  storage.cached_files({0, 3});
  storage.release_mapped_pages();
}

template <const char* kName>
void open_and_read(const Place& place) {
  const bench::StorageOptions options{five_images(), place.folder, true, {}};
  read_all(*bench::StorageRegistry::instance().find(kName)(options));
}
constexpr char kLmdb[] = "lmdb", kHdf5[] = "hdf5", kArrow[] = "arrow", kParquet[] = "parquet",
               kTfRecord[] = "tfrecord", kRaw[] = "raw", kTars[] = "webdataset";

void repair_frames(std::vector<Bytes>& files) {
  for (Bytes& file : files)
    for (size_t at = 0; at + 16 <= file.size();) {
      uint64_t length = 0;
      std::memcpy(&length, &file[at], 8);
      if (length > file.size() - at - 16) break;
      const uint32_t of_length = bench::masked_crc32c({&file[at], 8});
      const uint32_t of_data = bench::masked_crc32c({&file[at + 12], size_t(length)});
      std::memcpy(&file[at + 8], &of_length, 4);
      std::memcpy(&file[at + 12 + length], &of_data, 4);
      at += 16 + length;
    }
}

void repair_raw(std::vector<Bytes>& files) {
  Bytes& index = files[0];
  const size_t head = sizeof(bench::RawIndexHeader), each = sizeof(bench::RawIndexEntry);
  for (size_t i = 0; head + (i + 1) * each <= index.size(); ++i) {
    bench::RawIndexEntry entry;
    std::memcpy(&entry, &index[head + i * each], each);
    const size_t shard = i < 3 ? 1 : 2;  // of the five records in two shards
    const auto pixels = uint64_t(3) * uint64_t(uint32_t(entry.width)) * uint32_t(entry.height);
    if (shard >= files.size() || entry.offset < 0 || pixels > files[shard].size() ||
        uint64_t(entry.offset) > files[shard].size() - pixels)
      continue;
    entry.checksum = bench::raw_checksum(entry, {files[shard].data() + entry.offset, size_t(pixels)});
    std::memcpy(&index[head + i * each], &entry, each);
  }
}

// -------------------------------------------------------------------- an object store that answers anything

std::vector<std::string> answers;  // one for each request, then none
size_t answered = 0;

int listening_port() {
  static const int port = [] {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) || ::listen(listener, 16) ||
        ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size))
      std::abort();
    std::thread([listener] {
      for (;;) {
        const int one = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
        std::string request;
        char part[4096];
        for (ssize_t got;
             request.find("\r\n\r\n") == request.npos && (got = ::read(one, part, sizeof part)) > 0;)
          request.append(part, size_t(got));
        const std::string answer = answered < answers.size() ? answers[answered] : "";
        ++answered;
        if (!request.empty()) (void)!::send(one, answer.data(), answer.size(), MSG_NOSIGNAL);
        ::shutdown(one, SHUT_WR);
        while (::read(one, part, sizeof part) > 0) continue;
        ::close(one);
      }
    }).detach();
    return ntohs(address.sin_port);
  }();
  return port;
}

void read_remote(const Place& place) {
  answers.clear();
  answered = 0;
  for (const fs::path& file : place.files)
    if (fs::exists(file)) answers.push_back(base::read_file(file));
#if LIBCURL_VERSION_NUM < 0x080102
  // Such a libcurl reads freed memory where a later answer begins with a continued header (its pull request
  // 11103). The suite's rows read from an nginx that it starts itself.
  for (const std::string& answer : answers)
    if (answer.find("\n ") != answer.npos || answer.find("\n\t") != answer.npos) return;
#endif
  bench::Dataset dataset;
  dataset.images = {{"train/a/0.JPEG", 0, 12}, {"train/a.tar/1.JPEG", 1, 5, 512, 11}};
  const std::string url = "http://127.0.0.1:" + std::to_string(listening_port()) + place.folder.string();
  read_all(*bench::StorageRegistry::instance().find("remote")({dataset, url, true, {}}));
}

// ------------------------------------------------------------------------------------ images of other tools

template <void (*kVisit)(const bench::Container&)>
void visit(const Place& place) {
  bench::Labels labels;
  const bench::TakeImage take = [](const std::string&, int64_t, std::span<const uint8_t> image) {
    volatile uint8_t sum = 0;
    for (const uint8_t byte : image) sum = uint8_t(sum + byte);
  };
  try {
    kVisit({place.files[0], place.bytes, labels, take});
  } catch (const nlohmann::json::exception&) {
    throw;                                 // says nothing to a user
  } catch (const std::exception& error) {  // as scan.cpp does
    throw std::runtime_error(error.what());
  }
}

}  // namespace

std::vector<Reader> readers_of_images() {
  return {{"lmdb", {"data.mdb"}, open_and_read<kLmdb>},
          {"hdf5", {"images.h5"}, open_and_read<kHdf5>},
          {"arrow", {"images.arrow"}, open_and_read<kArrow>},
          {"parquet",
           {"train-00000-of-00004.parquet", "train-00001-of-00004.parquet", "train-00002-of-00004.parquet",
            "train-00003-of-00004.parquet"},
           open_and_read<kParquet>},
          {"tfrecord",
           {"index-00000-of-00004.idx", "index-00001-of-00004.idx", "index-00002-of-00004.idx",
            "index-00003-of-00004.idx", "train-00000-of-00004", "train-00001-of-00004",
            "train-00002-of-00004", "train-00003-of-00004"},
           open_and_read<kTfRecord>,
           repair_frames},
          {"raw",
           {"index.bin", "train-00000-of-00002.rgb", "train-00001-of-00002.rgb"},
           open_and_read<kRaw>,
           repair_raw},
          {"webdataset",
           {".index.tsv", "train-000000.tar", "train-000001.tar", "train-000002.tar", "train-000003.tar"},
           open_and_read<kTars>},
          {"remote", {"0", "1", "2"}, read_remote},
          {"index",
           {"index.tsv"},
           [](const Place& place) {
             const bench::Dataset dataset = bench::read_index(place.files[0]);
             for (size_t i = 0; i < dataset.images.size(); ++i) dataset.files_of({int64_t(i)});
           }},
          {"of_tar", {"x.tar"}, visit<bench::visit_tar>, nullptr, false},
          {"of_arrow", {"x.arrow"}, visit<bench::visit_arrow>, nullptr, false},
          {"of_parquet", {"x.parquet"}, visit<bench::visit_parquet>, nullptr, false},
          {"of_tfrecord", {"x.tfrecord"}, visit<bench::visit_tfrecord>, repair_frames, false}};
}

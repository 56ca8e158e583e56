// libFuzzer's entry to what reads whole files: the bytes are written as the files that a reader expects, and
// are read or refused with a sentence that names one of them. READER names the reader. tests/fuzz/run builds
// it, makes its seeds and runs it; with READER_FUZZ_READS_ALL set, as for the seeds, a refusal is a failure.
#include <dlfcn.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/socket.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef HAVE_CURL
#include <curl/curl.h>
#endif

#include <cstring>
#include <iostream>
#include <sstream>
#include <thread>

#include "bench/dataset/containers.h"
#include "bench/formats/raw_index.h"
#include "bench/formats/tfrecord_frame.h"
#include "bench/loading/storage/storage.h"
#include "harness/base/file.h"
#include "harness/base/json_text.h"
#include "harness/config/config.h"
#include "harness/config/device_file.h"
#include "harness/config/hosts.h"
#include "harness/config/machine_file.h"
#include "harness/config/prices.h"
#include "harness/nightly/night.h"
#include "harness/own_job/profiler_trace.h"
#include "harness/stats/records.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;
using Span = std::span<const uint8_t>;

// Between the files of one input; reader_seeds.py has the same.
constexpr std::string_view kNextFile = "\n=== next file ===\n";
// At the end of an input: checksums are computed anew, which no mutation hits by chance.
constexpr std::string_view kRepair = "repair";

struct Place {
  fs::path folder;
  std::vector<fs::path> files;
  Span bytes;  // the whole input
};

struct Reader {
  const char* name;
  std::vector<std::string> files;
  void (*read)(const Place& place);
  void (*repair)(std::vector<Bytes>& files) = nullptr;
  bool names_file = true;  // whether a refusal does, or its caller adds the name
};

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
  const bench::TakeImage take = [](const std::string&, int64_t, Span image) {
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

// --- run_matrix's files ---

void read_lines(const Place& place, const std::function<void(const nlohmann::json&)>& take) {
  std::ostringstream warnings;
  std::ifstream input = base::open_regular(place.files[0]);
  base::read_json_lines(input, place.files[0], warnings, "left out",
                        [&](const nlohmann::json& line, int) { take(line); });
  if (!warnings.str().empty()) throw std::runtime_error(warnings.str());
}

const std::vector<Reader> kReaders = {
    {"lmdb", {"data.mdb"}, open_and_read<kLmdb>},
    {"hdf5", {"images.h5"}, open_and_read<kHdf5>},
    {"arrow", {"images.arrow"}, open_and_read<kArrow>},
    {"parquet",
     {"train-00000-of-00004.parquet", "train-00001-of-00004.parquet", "train-00002-of-00004.parquet",
      "train-00003-of-00004.parquet"},
     open_and_read<kParquet>},
    {"tfrecord",
     {"index-00000-of-00004.idx", "index-00001-of-00004.idx", "index-00002-of-00004.idx",
      "index-00003-of-00004.idx", "train-00000-of-00004", "train-00001-of-00004", "train-00002-of-00004",
      "train-00003-of-00004"},
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
    {"of_tfrecord", {"x.tfrecord"}, visit<bench::visit_tfrecord>, repair_frames, false},
    {"matrix", {"x.yaml"}, [](const Place& place) { harness::load_matrix(place.files[0], {}); }},
    {"scales", {"x.yaml"}, [](const Place& place) { harness::load_scales(place.files[0]); }},
    {"device",
     {"x.yaml"},
     [](const Place& place) {
       const std::string text = harness::device_file_text(harness::read_device_file(place.files[0]));
       base::write_whole_file(place.files[0], text, false);
       if (harness::device_file_text(harness::read_device_file(place.files[0])) != text) std::abort();
     }},
    {"prices", {"x.yaml"}, [](const Place& place) { harness::read_prices(place.files[0]); }},
    {"machine", {"x.yaml"}, [](const Place& place) { harness::read_machine(place.files[0]); }},
    {"hostfile",
     {"hosts"},
     [](const Place& place) {
       if (const std::string why = harness::hostfile_problem(place.files[0]); !why.empty())
         throw std::runtime_error(why);
     },
     nullptr,
     false},
    {"records",
     {"records.jsonl"},
     [](const Place& place) {
       std::ostringstream warnings;
       harness::Attempts attempts;
       harness::read_records(place.folder, warnings, &attempts);
       if (!warnings.str().empty()) throw std::runtime_error(warnings.str());
     }},
    {"history",
     {"nights.jsonl"},
     [](const Place& place) {
       read_lines(place, [](const nlohmann::json& line) { harness::decode<harness::Night>(line); });
     }},
    {"trace",
     {"x.json.gz"},
     [](const Place& place) {
       const harness::ProfilerTrace trace = harness::read_profiler_trace(place.files[0]);
       try {
         harness::traced_steps(trace, 32);
       } catch (const std::runtime_error& error) {  // as its caller does
         throw std::runtime_error(place.files[0].string() + ": " + error.what());
       }
     }},
};

const Reader& chosen() {
  static const Reader& reader = []() -> const Reader& {
    const char* wanted = std::getenv("READER");
    for (const Reader& one : kReaders)
      if (wanted && wanted == std::string(one.name)) return one;
    for (const Reader& one : kReaders) std::cout << one.name << std::endl;
    std::_Exit(2);
  }();
  return reader;
}

// ------------------------------------------------------------------------- libraries that die of their files
// LMDB trusts its pages. A rank that it ends dies alone and names the file (ReadingStorage),
// so its end is no failure here; one in this suite's own code is.

sigjmp_buf before_reading;
volatile sig_atomic_t reading = 0;
int64_t died = 0;

void on_signal(int number, siginfo_t*, void* context) {
  const auto at = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  Dl_info place{};
  const bool aborted = number == SIGABRT;  // of LMDB's assertions
  if (reading && (aborted || (::dladdr(reinterpret_cast<void*>(at), &place) && place.dli_fname &&
                              std::strstr(place.dli_fname, "liblmdb"))))
    ::siglongjmp(before_reading, 1);
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void survive_lmdb() {
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  action.sa_sigaction = on_signal;
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) ::sigaction(number, &action, nullptr);
  std::atexit([] { std::cerr << "stat::ended_in_the_library: " << died << '\n'; });
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  chosen();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool reads_all = std::getenv("READER_FUZZ_READS_ALL");
  static const TemporaryFolder folder("/dev/shm");
  static const bool of_lmdb = chosen().name == std::string("lmdb");
  static const int first_free = ::dup(0);
  const Reader& reader = chosen();
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const bool repairs = reader.repair && text.ends_with(kRepair);
  if (repairs) text.remove_suffix(kRepair.size());
  std::vector<Bytes> contents;
  for (std::string_view rest = text; contents.size() < reader.files.size();) {
    const size_t end = contents.size() + 1 < reader.files.size() ? rest.find(kNextFile) : rest.npos;
    const std::string_view one = rest.substr(0, end);
    contents.emplace_back(one.begin(), one.end());
    if (end == rest.npos) break;
    rest.remove_prefix(end + kNextFile.size());
  }
  if (repairs) reader.repair(contents);
  static Place place{folder.path(), {}, {}};
  place.files.clear();
  for (size_t i = 0; i < reader.files.size(); ++i) {
    place.files.push_back(folder.path() / reader.files[i]);
    std::error_code gone;
    if (i >= contents.size())
      fs::remove(place.files[i], gone);
    else
      std::ofstream(place.files[i], std::ios::binary)
          .write(reinterpret_cast<const char*>(contents[i].data()), std::streamsize(contents[i].size()));
  }
  const Bytes whole = contents[0];
  place.bytes = whole;
  static std::string why;
  why.clear();
  if (of_lmdb) {
    static const bool ready = (survive_lmdb(), true);
    (void)ready;
    if (sigsetjmp(before_reading, 1)) {
      reading = 0;
      ++died;
      for (int left = first_free + 1; left < first_free + 8; ++left) ::close(left);
      return 0;
    }
    reading = 1;
  }
  try {
    reader.read(place);
  } catch (const std::runtime_error& error) {
    why = error.what();
  } catch (const std::invalid_argument& error) {
    why = error.what();
  }
  reading = 0;
  if (why.empty()) return 0;
  if (reader.names_file && why.find(folder.path().string()) == why.npos) {
    std::cerr << "a refusal that names no file: " << why << '\n';
    std::abort();
  }
  if (reads_all) {
    std::cerr << reader.name << " is refused: " << why << '\n';
    std::abort();
  }
  return 0;
}

// libFuzzer's entry to what reads whole files: the bytes are written as the files that a reader expects, and
// are read or refused with a sentence that names one of them. READER names the reader. tests/fuzz/run builds
// it, makes its seeds and runs it; with READER_FUZZ_READS_ALL set, as for the seeds, a refusal is a failure.
#include <dlfcn.h>
#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iostream>

#include "tests/fuzz/reader.h"
#include "tests/support/temporary_folder.h"

namespace {

namespace fs = std::filesystem;

// Between the files of one input; reader_seeds.py has the same.
constexpr std::string_view kNextFile = "\n=== next file ===\n";
// At the end of an input whose checksums are to be computed anew.
constexpr std::string_view kRepair = "repair";

const Reader& chosen() {
  static const Reader reader = [] {
    const char* wanted = std::getenv("READER");
    std::vector<Reader> all = readers_of_images();
    for (const Reader& one : readers_of_files()) all.push_back(one);
    for (const Reader& one : all)
      if (wanted && wanted == std::string(one.name)) return one;
    for (const Reader& one : all) std::cout << one.name << std::endl;
    std::_Exit(2);
  }();
  return reader;
}

// ------------------------------------------------------------------------- libraries that die of their files
// LMDB trusts its pages: it crashes on some and searches others for ever. A rank that it ends, or that the
// harness ends because it hangs, dies alone and names the file (ReadingStorage), so neither is a failure
// here; one in this suite's own code is.

sigjmp_buf before_reading;
volatile sig_atomic_t reading = 0;
int64_t died = 0;

constexpr itimerval kLongest{{0, 0}, {2, 0}};  // of processor time, where one input takes under 10 ms

void on_signal(int number) {
  void* frames[64];
  Dl_info place{};
  for (int i = reading ? ::backtrace(frames, 64) : 0; i-- > 0;)  // LMDB may have called memcmp or abort
    if (::dladdr(frames[i], &place) && place.dli_fname && std::strstr(place.dli_fname, "liblmdb"))
      ::siglongjmp(before_reading, 1);
  if (number == SIGVTALRM) return;  // libFuzzer has a limit of its own
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void survive_lmdb() {
  void* warm[1];
  ::backtrace(warm, 1);  // loads libgcc now, because a signal handler must not allocate
  struct sigaction action {};
  action.sa_flags = SA_NODEFER;
  action.sa_handler = on_signal;
  for (const int number : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGVTALRM})
    ::sigaction(number, &action, nullptr);
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
    ::setitimer(ITIMER_VIRTUAL, &kLongest, nullptr);
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

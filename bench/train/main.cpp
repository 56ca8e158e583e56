// train_slice: runs one rank of one row: reads the job, trains the slice and sends its samples to rank 0.
#include <execinfo.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <iostream>

#include "bench/formats/mapped_file.h"
#include "bench/formats/packed_copy.h"
#include "bench/loading/loader/loader.h"
#include "bench/loading/storage/storage.h"
#include "bench/train/link/link.h"
#include "bench/train/probes.h"
#include "bench/train/rank.h"
#include "harness/base/failure_text.h"
#include "harness/base/file.h"
#include "harness/base/program_start.h"
#include "harness/contract/machine.h"
#include "harness/contract/progress.h"

namespace bench {
namespace {

std::string packed_copy_of(const harness::Job& job) {
  const auto packed = job.packed.find(job.row.storage);
  return packed == job.packed.end() ? "" : packed->second;
}

// A WhyEnded as JSON that fits into a rank's slot.
std::string why_ended(const char* status, std::string reason) {
  while (true) {  // JSON escapes may make the text longer
    const std::string text = harness::encode(harness::WhyEnded{status, reason})
                                 .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    if (text.size() < sizeof harness::ProgressSlot::why_ended || reason.empty()) return text;
    reason.resize(reason.size() / 2);
  }
}

// Called by handlers of crashes. On a damaged or shortened copy loader threads crash together, whatever their
// signals: the first one tells why and ends the process, the others wait for that.
void tell_alone() {
  static std::atomic<pid_t> first{0};
  pid_t crashed = 0;
  if (!first.compare_exchange_strong(crashed, ::gettid()) && crashed != ::gettid())
    while (true) ::pause();
}

std::string crashed_reading, hangs_reading;  // a sentence, a WhyEnded as JSON
harness::ProgressSlot* own_slot = nullptr;

// Prints a stack trace on SIGUSR2, which the harness sends to a hung rank before it kills it, and on the
// signals of a crash, which then end the rank as if there were no handler. Tells what was read if a thread is
// within a storage then. OpenMPI keeps handlers that it finds, this function those of the sanitizers.
void print_stacks(const harness::Job& job, const RankInfo& rank) {
  static harness::Progress progress(job.progress, 0);
  if (rank.rank >= progress.ranks()) return;  // it is refused later
  own_slot = &progress.slot(rank.rank);
  const std::string location = packed_copy_of(job),
                    place = location.empty() ? "storage " + job.row.storage : location,
                    next = location.empty() ? "check the files and their disk"
                                            : pack_again(job.row.storage, location);
  crashed_reading = fmt::format("it crashed while it read {}, which may be damaged; {}\n", place, next);
  hangs_reading = why_ended("HUNG", fmt::format("it still reads {}, which may be damaged or on a disk that "
                                                "does not answer; {}",
                                                place, next));
  struct sigaction action {};
  action.sa_handler = [](int signal_number) {
    if (signal_number != SIGUSR2) tell_alone();
    void* frames[64];
    const int count = backtrace(frames, 64);
    if (signal_number != SIGUSR2) std::reverse(frames, frames + count);  // records show the last lines
    backtrace_symbols_fd(frames, count, STDERR_FILENO);
    if (signal_number == SIGUSR2 && ReadingStorage::threads > 0)
      harness::set_why_ended(*own_slot, hangs_reading);
    if (signal_number != SIGUSR2 && ReadingStorage::now)
      (void)!::write(STDERR_FILENO, crashed_reading.data(), crashed_reading.size());
    if (signal_number == SIGUSR2) return;
    ::signal(signal_number, SIG_DFL);
    ::raise(signal_number);  // again, after this function
  };
  sigaction(SIGUSR2, &action, nullptr);
  for (const int crash : {SIGSEGV, SIGFPE, SIGILL, SIGABRT}) {
    struct sigaction there {};
    sigaction(crash, nullptr, &there);
    if (there.sa_handler == SIG_DFL) sigaction(crash, &action, nullptr);
  }
  void* warm[1];
  backtrace(warm, 1);  // loads libgcc now, because a signal handler must not allocate
}

// mpirun and srun merge the output of their ranks, so each rank writes its own files in the folder RANK_LOGS.
void open_rank_logs(const RankInfo& rank) {
  if (const char* folder = std::getenv("RANK_LOGS"))
    for (const auto& [name, stream] : {std::pair("stdout", stdout), std::pair("stderr", stderr)})
      if (const std::string file = fmt::format("{}/rank-{}.{}", folder, rank.rank, name);
          !std::freopen(file.c_str(), "w", stream))
        base::throw_write_error(file, errno);
}

// Kills this rank when its parent dies: the program of --wrap, or mpirun. Slurm ends its ranks itself.
void end_with_parent() {
  if (std::getenv("RUN_MATRIX_WRAPPED")) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (std::getenv("OMPI_COMM_WORLD_RANK") && !std::getenv("SLURM_PROCID")) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() == 1) std::_Exit(1);  // the parent died before the prctl call
  }
}

// Stores the status and reason in shared memory and in a file, where the harness reads them. Returns the exit
// code 1.
int report_error(const harness::Job& job, const RankInfo& rank, const char* status,
                 const std::string& reason) {
  std::cerr << "rank " << rank.rank << ": " << reason << '\n';
  try {
    harness::Progress progress(job.progress, 0);
    if (rank.rank < progress.ranks())
      harness::set_why_ended(progress.slot(rank.rank), why_ended(status, reason));
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
  }
  try {
    write_json(std::filesystem::path(job.directory) / fmt::format("rank-{}.error.json", rank.rank),
               harness::encode(harness::WhyEnded{status, reason}));
  } catch (const std::exception& error) {  // full disk: stderr may be on it too
    std::cerr << error.what() << '\n';
  }
  return 1;
}

// A packed copy that becomes shorter while it is mapped is answered with SIGBUS in the thread that reads it,
// which holds no lock of the allocator then. `of_job` and `of_rank` outlive the process's threads.
void report_bus_errors(const harness::Job& of_job, const RankInfo& of_rank) {
  static const harness::Job* job = nullptr;
  static const RankInfo* rank = nullptr;
  job = &of_job, rank = &of_rank;
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO;
  action.sa_sigaction = [](int, siginfo_t* info, void*) {
    tell_alone();
    std::_Exit(report_error(*job, *rank, "CRASHED",
                            why_lost(info->si_addr, job->row.storage, packed_copy_of(*job))));
  };
  sigaction(SIGBUS, &action, nullptr);
}

int run_and_report(const harness::Job& job, const RankInfo& rank) {
  try {
    open_rank_logs(rank);
    end_with_parent();
    print_stacks(job, rank);
    report_bus_errors(job, rank);
    train_rank(job, rank);
    return 0;
  } catch (const BadDataset& error) {
    return report_error(job, rank, "INVALID", error.what());
  } catch (const LoaderHangs& error) {
    return report_error(job, rank, "HUNG", error.what());
  } catch (const WrongLink& error) {
    return report_error(job, rank, "INVALID", error.what());
  } catch (const Disagreement& error) {
    return report_error(job, rank, "INVALID", error.what());
  } catch (const std::bad_alloc&) {
    return report_error(job, rank, "OUT_OF_MEMORY", "an allocation failed");
  } catch (const std::exception& error) {
    const std::string text = base::failure_text(error), first_line = text.substr(0, text.find('\n'));
    return report_error(job, rank, tells_of_memory(text) ? "OUT_OF_MEMORY" : "CRASHED", first_line);
  }
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) try {
  base::start_program();
  CLI::App app{
      "One rank of one row; started by run_matrix, or by any launcher that sets RANK, WORLD_SIZE and so on."};
  app.set_version_flag(
      "--version", [] { return harness::encode(harness::describe_build()).dump(); },
      "print the build as JSON");
  std::string job_file;
  bool values = false, memory = false, canaries = false;
  int decoding_px = 0;
  app.add_option("--job", job_file, "job file that run_matrix wrote");
  app.add_flag("--values", values, "print the values of every axis as JSON");
  app.add_flag("--probe-memory", memory,
               "with --job: print as JSON whether the row's share of a batch fits into its device's memory");
  app.add_option("--probe-decoding", decoding_px,
                 "print as JSON how many made-up images all cores decode to this size in a second")
      ->type_name("PIXELS")
      ->check(CLI::Range(8, 4096));
  app.add_flag("--canaries", canaries,
               "time fixed workloads that detect a slower machine and print the ms as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  const auto print = [](const nlohmann::json& answer) {
    std::cout << answer << '\n';
    return 0;
  };
  if (canaries) return print(bench::run_canaries());
  if (decoding_px > 0) return print(bench::probe_decoding(decoding_px));
  if (values) return print(harness::encode(bench::axis_values()));
  if (job_file.empty())
    throw std::invalid_argument("--job FILE is missing; run_matrix writes one for each row");
  const harness::Job job = harness::read_job(job_file);
  if (memory) return print(harness::encode(bench::probe_memory(job)));
  const bench::RankInfo rank = bench::rank_from_environment();
  const int code = bench::run_and_report(job, rank);
  if (code != 0) std::_Exit(code);  // threads of a failed group may still wait for other ranks
  return 0;
} catch (const std::exception& error) {
  std::cerr << "train_slice: " << base::failure_text(error) << '\n';
  return 2;
}

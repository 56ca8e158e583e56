// Announces each row by a numbered file with its folder and port, and its end by another file.
#include "harness/launch/followers.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "harness/base/child_process.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/json_text.h"
#include "harness/config/config_error.h"
#include "harness/contract/job.h"
#include "harness/launch/rank_program.h"

namespace harness {

namespace fs = std::filesystem;

constexpr auto kFollowerPoll = std::chrono::milliseconds(50);
constexpr auto kLeaderSilence =
    std::chrono::minutes(30);  // the leader may take this long to prepare its data
constexpr auto kOlder =
    std::chrono::minutes(2);  // all ranks start within this time; an older folder belongs to another run
static const char* const kEnd = "end";

static fs::path board(const fs::path& run) { return run / "announcements"; }
static int& rows_announced() {
  static int rows = 0;
  return rows;
}

struct AnnouncedRow {
  std::string directory;
  int64_t port = 0;
  KEYS(AnnouncedRow, REQUIRED(directory, "the row's folder"), REQUIRED(port, "where its ranks meet"));
};

// Writes atomically, also on a network file system.
static void announce(const fs::path& file, const std::string& what = "{}") {
  base::write_whole_file(file, what + '\n', /*durable=*/false);
}

Leading::Leading(const fs::path& run) : run_(run) { fs::create_directories(board(run)); }

Leading::~Leading() {
  try {
    announce(board(run_) / kEnd);
  } catch (const std::exception&) {  // full disk: followers end with the program that started them
  }
}

FollowedRow::FollowedRow(const fs::path& run, const fs::path& directory, int port) {
  const std::string number = std::to_string(++rows_announced());
  done_ = board(run) / (number + ".done");
  announce(board(run) / number, encode(AnnouncedRow{directory, port}).dump());
}

FollowedRow::~FollowedRow() {
  try {
    announce(done_);
  } catch (const std::exception&) {
  }
}

int64_t rank_of_environment() {
  const char* rank = std::getenv("RANK");
  return rank ? std::atoll(rank) : 0;
}

bool is_follower() {
  const char* rank = std::getenv("RANK");
  return rank && std::string(rank) != "0";
}

static void run_rank(const AnnouncedRow& row, const fs::path& done, const Request& request,
                     const Installation& installation) {
  base::Command command;
  LaunchSetting setting;
  setting.directory = row.directory;
  const Row of_job = read_job(setting.directory / "job.json").row;
  prepare_rank(command, of_job);
  command.environment["MASTER_PORT"] = std::to_string(row.port);
  command.environment["RANK_LOGS"] = row.directory;
  wrap_rank(command, rank_of_environment(), rank_program(of_job, installation, setting), request,
            row.directory);
  const pid_t pid = start(command);
  for (int status = 0; ::waitpid(pid, &status, WNOHANG) == 0; std::this_thread::sleep_for(kFollowerPoll))
    if (fs::exists(done) || base::interrupted()) {
      ::kill(-pid, SIGKILL);
      ::waitpid(pid, &status, 0);
      return;
    }
}

void refuse_followers(const Request& request, const std::string& what) {
  if (launcher_of(request) == "env")
    throw PreparationError(what +
                           ": the ranks that torchrun started follow the rows of one run alone; start it "
                           "without torchrun, or with --launcher local, mpirun or slurm");
}

int follow(const Request& request, const Installation& installation) {
  const fs::path& run = request.out;
  if (run.empty())
    throw std::runtime_error("launcher env: name a folder that all ranks can access with --out");
  std::error_code missing;
  const auto made = fs::last_write_time(board(run), missing);
  if (!missing && fs::file_time_type::clock::now() - made > kOlder)
    throw std::runtime_error(run.string() + " already holds a run: name another folder with --out");
  base::note_interrupts();
  const auto begin = std::chrono::steady_clock::now();
  for (int row = 1; !base::interrupted();) {
    const fs::path next = board(run) / std::to_string(row);
    if (fs::exists(next)) {
      run_rank(decode<AnnouncedRow>(base::require_json(base::read_file(next))), next.string() + ".done",
               request, installation);
      ++row;
    } else if (fs::exists(board(run) / kEnd)) {
      return 0;  // the leader's exit code reports the result
    } else if (!fs::exists(board(run)) && std::chrono::steady_clock::now() - begin > kLeaderSilence) {
      throw std::runtime_error("the run_matrix of rank 0 has not started within 30 minutes in " +
                               run.string());
    }
    std::this_thread::sleep_for(kFollowerPoll);
  }
  return 130;
}

}  // namespace harness

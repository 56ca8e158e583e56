// The answer of `run_matrix feed`, computed from the records of its runs.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/explanation.h"
#include "harness/report/summary/summary.h"

namespace harness {

// MLPerf Storage's accelerator utilisation (AU): time in which the device computes / total time, 0-1 (its
// rules: total_compute_time / total_benchmark_running_time). The device computes in the phases forward, loss,
// backward and step of its timeline. Batches that lay ready at the window's start, and not at its end, cost
// the loader no time in it, so the total is extended to what the loader would need for all of them. Nullopt
// without the device's times.
std::optional<double> device_utilisation(const Record& record);

// Images per second that the loader delivered, with the same extended total.
std::optional<double> delivered_images_per_second(const Record& record);

// Encoded bytes of an image as the storage delivered it; 0 without any. The loader may be a part of a batch
// ahead.
double bytes_per_image(const Record& record);

// All runs with one number of devices.
struct FeedPoint {
  double devices = 0;
  double utilisation = 0, images_per_second = 0;  // medians
  size_t runs = 0;
};

struct FeedAnswer {
  int64_t asked = 0;
  std::string device;                   // name of the device file
  Row row;                              // as it ran, of the first record
  int64_t cores = 0;                    // that the loader could use
  double device_images_per_second = 0;  // one device, by its file
  double loader_images_per_second = 0;  // the loader alone, as asked
  std::vector<FeedPoint> points;        // by number of devices
  double fed_by_rate = 0;               // devices, by the loader's rate
  std::optional<int64_t> whole;         // measured: largest whole number that is fed, and one more is not
  std::optional<bool> asked_is_fed;
  Explanation loader;            // one change at a time to the loader alone
  bool host_binds = false;       // even made-up batches, without any loading, don't feed the device
  std::string binding, because;  // the likely cause: `host` or a resource; why. Empty: not all was tried
  double bytes_per_image = 0;
  double load_average = 0;  // the highest before a run
  // What the asked number needs for a utilisation of kFedFrom. Cores: as fast as this host's; empty when
  // unknown.
  double needed_images_per_second = 0;
  bool over_network = false;  // the storage is an object store
  std::optional<double> needed_cores;
  std::string missing;  // what the runs don't answer, and why; empty: they answer all
};

// Nullopt when no record is of `feed`.
std::optional<FeedAnswer> feed_answer(const RecordList& records);
std::optional<FeedAnswer> feed_answer(const Summary& summary);

// What the loader of a user's own job feeds.
struct JobFeed {
  Location rate;                             // items/s of the loader alone
  double batch = 0, device_items_per_s = 0;  // of one rank; what one device takes
  bool on_processor = false;                 // the job trains there, which such devices would spare it
  double devices() const { return rate.value / device_items_per_s; }
};
double batch_of_a_rank(const Record& record);
// Nullopt when no record with a figure is of `feed` on a job.
std::optional<JobFeed> job_feed(const RecordList& records);

}  // namespace harness

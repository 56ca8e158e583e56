// The parts of a record; record.h combines them.
#pragma once
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/codec.h"
#include "harness/contract/record_commands.h"
#include "harness/contract/record_machine.h"

namespace harness {

struct RecordScale {
  std::string name, summary;
  int64_t batch_divisor = 1, c0 = 0;
  std::optional<double> decoded_images_per_s = {};
  KEYS(RecordScale, REQUIRED(name, "article, rehearsal, emulated or smoke"),
       KEY(batch_divisor, "divisor of the row's batch in the matrix file"),
       KEY(c0, "loader threads per node of the article's row [7]"), KEY(summary, "the scale in one sentence"),
       WHEN_SET(decoded_images_per_s,
                "full-size images that all cores of this machine decoded in a second before the run; the "
                "`time_scale` of rows on emulated devices was chosen by it"));
};

struct RecordData {
  std::string fingerprint, kind;
  std::optional<int64_t> images, bytes, classes, seed, skipped, validation_images;
  std::map<std::string, int64_t> left_out;
  std::optional<double> copied_in_s = {};
  KEYS(
      RecordData, WHEN_SET(fingerprint, "hash of names, sizes and a sample of the content"),
      WHEN_SET(images, "images in train/"), WHEN_SET(bytes, "size of the encoded files"),
      WHEN_SET(classes, "number of class folders"),
      WHEN_SET(
          kind,
          "stand-in, folder, or the files that hold the images: webdataset (tars), arrow, parquet, tfrecords"),
      WHEN_SET(seed, "seed of stand-in images"),
      WHEN_SET(skipped, "files with an image's name that are not images"),
      WHEN_SET(validation_images, "images in val/"),
      WHEN_SET(left_out,
               "with --skip-unreadable: number of files in formats that aren't decoded, by file ending"),
      WHEN_SET(
          copied_in_s,
          "time that making the copy took which the row's storage reads, if there is one and it is known"));
};

struct RecordWindow {
  std::string article;
  int64_t first = 0, last = 0;
  KEYS(RecordWindow, KEY(article, "batches that the article timed: 0-299 or 100-399"),
       KEY(first, "first batch timed here"), KEY(last, "last batch timed here"));
};

struct RecordCheck {
  std::string name;
  bool ok = false;
  std::string detail;
  KEYS(RecordCheck, REQUIRED(name, "what was checked"), REQUIRED(ok, "whether it passed"),
       KEY(detail, "what was found"));
};

// Images by what decoded them; nvJPEG takes a batch's images for the engine or refuses them one by one.
struct RecordDecoded {
  int64_t jpeg_engine = 0, cuda = 0, cpu = 0;
  int64_t all() const { return jpeg_engine + cuda + cpu; }
  KEYS(RecordDecoded, KEY(jpeg_engine, "on the GPU's JPEG engine"),
       KEY(cuda, "by nvJPEG on the GPU's multiprocessors, in part on the CPU"),
       KEY(cpu, "by the CPU's decoder, because nvJPEG refused them"));
};

// What an external loader delivered, beside what this suite makes of the same images.
struct RecordExternal {
  int64_t compared = 0, misplaced = 0;
  std::optional<double> mean_difference, greatest_difference;
  KEYS(
      RecordExternal, KEY(compared, "images whose pixels were compared"),
      KEY(misplaced,
          "images whose label isn't that of their place in the row's order: the loader has an order of its own"),
      WHEN_SET(
          mean_difference,
          "of the values of a pixel, 0 to 255; of the rank with the greatest, as below; of images in an order of the "
          "loader's own, to the most similar one with their label"),
      WHEN_SET(greatest_difference, "the same, of a single image's mean"));
};

struct RecordCache {
  std::string requested, state, storage_used, metadata, note;
  std::optional<double> resident_before;
  std::optional<int64_t> device_bytes, encoded_bytes, server_bytes, read_ahead_kb;
  std::vector<int64_t> device_bytes_by_third, encoded_bytes_by_third;
  std::vector<double> cached_records_by_third;
  KEYS(RecordCache, KEY(requested, "state that the row requests"),
       KEY(state, "cold, warm, mixed (neither), unknown or none"), KEY(storage_used, "storage that was read"),
       KEY(resident_before, "share of the pages in memory before the slice, 0-1, or null"),
       KEY(device_bytes, "bytes read from the device during the slice, or null"),
       KEY(encoded_bytes, "bytes delivered to the loader"),
       WHEN_SET(device_bytes_by_third, "bytes read from the device in each third of the timed window"),
       WHEN_SET(encoded_bytes_by_third, "bytes delivered to the loader in each third"),
       WHEN_SET(cached_records_by_third,
                "of cold, shuffled rows: share of the records read in each third, 0-1, that were in "
                "the page cache before; mean over ranks"),
       WHEN_SET(read_ahead_kb, "of cold rows: how much the kernel reads ahead from this device"),
       WHEN_SET(metadata, "of cold rows: whether directory entries and inodes were dropped too, or why not"),
       WHEN_SET(server_bytes, "with an object store: bytes that it sent to all ranks"),
       KEY(note, "what could not be determined, and why"));
};

struct RecordMessage {
  int64_t bytes = 0;
  std::string type;
  KEYS(RecordMessage, KEY(bytes, "size of the message"), KEY(type, "number format of its elements"));
};

struct RecordCommunication {
  std::optional<int64_t> all_reduced_bytes, broadcast_bytes, gathered_bytes;
  std::vector<RecordMessage> all_reduces;
  std::optional<double> ceiling_ms;
  KEYS(RecordCommunication, KEY(all_reduced_bytes, "all-reduced bytes of one rank over the timed batches"),
       KEY(broadcast_bytes, "broadcast bytes of one rank over the timed batches"),
       KEY(gathered_bytes, "all-gathered bytes of one rank over the timed batches"),
       KEY(all_reduces, "all-reduces of the last batch, in order"),
       KEY(ceiling_ms,
           "time of these all-reduces with nothing else running, median of 21 rounds, slowest rank"));
};

struct RecordCeilings {
  int64_t batches = 0;
  std::optional<double> loader_ms, read_share, compute_ms;
  std::map<std::string, double> compute;
  std::vector<double> loader_batch_ms, compute_batch_ms;
  KEYS(RecordCeilings, KEY(batches, "batches over which each ceiling was measured"),
       WHEN_SET(
           loader_ms,
           "per batch, the loader alone, slowest rank; absent, like `read_share`, where the cache can't be "
           "made cold again (remote_cached)"),
       WHEN_SET(read_share, "share of reading in the loader threads' read and decode time, 0-1"),
       WHEN_SET(compute_ms,
                "per batch, the whole step on synthetic batches, including communication, slowest rank"),
       WHEN_SET(loader_batch_ms, "`loader_ms` of each batch, slowest rank"),
       WHEN_SET(compute_batch_ms, "`compute_ms` of each batch, slowest rank"),
       KEY(compute, "`compute_ms` by phase, ms per batch, mean over ranks"));
};

struct RecordRing {
  int64_t depth = 0;
  std::vector<int64_t> buffer_bytes, ready_at_start, ready_at_end;
  KEYS(RecordRing, KEY(depth, "batches that the loader may hold ready"),
       KEY(buffer_bytes, "memory of the batches, by rank"),
       KEY(ready_at_start, "complete batches in the ring at the start of the window, by rank"),
       KEY(ready_at_end, "complete batches in the ring at the end of the window, by rank"));
};

// Milliseconds, rounded to 1 ns, the clocks' resolution: otherwise sums print with up to 17 digits.
inline double rounded_ms(double nanoseconds) { return std::round(nanoseconds) / 1e6; }

struct TimelineEvent {
  int64_t rank = 0;
  std::string track, name;
  double begin_ms = 0, end_ms = 0;
  KEYS(
      TimelineEvent, REQUIRED(rank, "rank of the event"),
      REQUIRED(track,
               "`host` (the rank's phases), `collectives` (from post to end) or, with data_parallel, `device "
               "0`, `device 1`, ... (each replica's forward and backward)"),
      REQUIRED(name, "phase or collective"), REQUIRED(begin_ms, "begin; `clocks` defines 0"),
      REQUIRED(end_ms, "end; `clocks` defines 0"));
};

struct RecordTimeline {
  int64_t batch = 0;
  std::string clocks;
  std::vector<TimelineEvent> events;
  KEYS(RecordTimeline, KEY(batch, "number of the timed batch"),
       KEY(clocks,
           "`one host`, also with emulated nodes: ms since the first rank began the batch; "
           "`each rank's own`: ms since that rank began it"),
       KEY(events, "of the first 16 ranks"));
};

struct RecordAccuracy {
  double top1 = 0, top5 = 0;
  int64_t images = 0, classes = 0, train_images = 0;
  std::string kind;
  KEYS(RecordAccuracy, REQUIRED(top1, "share of val/ that is classified correctly, 0-1"),
       KEY(top5, "share of val/ whose label is among the first five answers, 0-1"),
       KEY(images, "images in val/"), KEY(classes, "classes of the data set"),
       KEY(kind, "synthetic (stand-in classes) or real"), KEY(train_images, "images in train/"));
};

struct RecordClock {
  double calls = 0, ns_per_call = 0;
  KEYS(RecordClock, KEY(calls, "calls of the phase clock per batch"),
       KEY(ns_per_call, "time of one call, measured outside the slice"));
};

}  // namespace harness

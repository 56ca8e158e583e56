// Compares resident pages and the bytes that the device delivered with the limits for cold and warm rows.
#include "bench/loading/storage/cache_proof.h"

#include <fmt/format.h>

#include <fstream>

namespace bench {

// Cold: almost no page is resident, and almost all bytes come from the device during the slice. Warm: the
// reverse. The margins allow for file-system metadata and read-ahead of neighbouring files.
constexpr double kColdResident = 0.02, kWarmResident = 0.98, kColdDeviceShare = 0.9, kWarmDeviceShare = 0.1;

// Of the records of a third of a shuffled, cold slice. Of fewer records the share would be chance.
constexpr double kMostCached = 0.1;
constexpr int64_t kFewestRecords = 50;

CacheProof::CacheProof(const std::string& requested, const Storage& storage,
                       const std::vector<int64_t>& records, std::filesystem::path server_counter,
                       const ReadCounts* counts, bool reads_here)
    : requested_(requested),
      used_(storage.used()),
      server_counter_(std::move(server_counter)),
      reads_here_(reads_here),
      counts_(counts) {
  const FileList files = storage.cached_files(records);
  cached_ = !files.empty();
  if (!cached_) return;
  if (requested_ == "cold") drop_from_page_cache(files);
  if (requested_ == "warm") {
    read_into_page_cache(files);
    if (server_counter_.empty()) locked_ = lock_in_memory(files);
  }
  // mincore is meaningless for an rclone mount, because each open() drops the file's pages. The relevant
  // cache is rclone's own, which is empty when the row starts.
  if (!server_counter_.empty()) return;
  resident_ = resident_share(files);
  if (!reads_here_ && requested_ == "warm") read_elsewhere_ = files;
  remote_file_system_ = remote_file_system(files.front());
  if (requested_ != "cold") return;
  read_ahead_kb_ = read_ahead_kb(files.front());
  const std::string why_kept = drop_metadata();
  metadata_ = why_kept.empty() ? "dropped" : "kept: " + why_kept;
}

// Bytes read so far from the storage's source: a block device or an object store.
std::optional<int64_t> CacheProof::bytes_read() const {
  if (server_counter_.empty()) return reads_here_ ? device_bytes_read() : std::nullopt;
  return counter_of(std::ifstream(server_counter_), "wchar:");
}

void CacheProof::slice_begins() { read_before_ = bytes_read(); }

void CacheProof::third_begins_or_ends(int64_t encoded_bytes) {
  marks_.push_back({bytes_read(), encoded_bytes, counts_ ? counts_->records.load() : 0,
                    counts_ ? counts_->cached.load() : 0});
}

void CacheProof::prove_whole_slice(harness::RecordCache& proof, std::optional<double> from_device) {
  proof.resident_before = resident_;
  const bool seems_cold =
      (!resident_ || *resident_ <= kColdResident) && (!from_device || *from_device >= kColdDeviceShare);
  // Of locked pages nothing can come from the device: what this process read are pages of its own program.
  const bool seems_warm = (!resident_ || *resident_ >= kWarmResident) &&
                          (locked_ || !from_device || *from_device <= kWarmDeviceShare);
  const bool known = resident_ || from_device;
  proof.state = !known ? "unknown" : seems_cold ? "cold" : seems_warm ? "warm" : "mixed";
  if (known && ((requested_ == "cold" && !seems_cold) || (requested_ == "warm" && !seems_warm)))
    violation_ =
        !server_counter_.empty()
            ? fmt::format(
                  "the row requests a {} mount cache, but the object store sent {:.0f} % of the "
                  "delivered bytes during the slice",
                  requested_, *from_device * 100)
            : fmt::format(
                  "the row requests a {} page cache, but {} of the pages were resident before the slice and "
                  "{} of the delivered bytes came from the device during it",
                  requested_, resident_ ? fmt::format("{:.0f} %", *resident_ * 100) : "an unknown share",
                  from_device ? fmt::format("{:.0f} %", *from_device * 100) : "an unknown share");
  if (!violation_.empty() && requested_ == "warm" && server_counter_.empty())
    violation_ +=
        ": the kernel evicts pages, although they will be read; raise the limit of locked memory "
        "(ulimit -l) above the data's size, so that the row can hold them";
}

// Read-ahead of a shuffled database could hold the whole set after a third of the window: the slice as a
// whole then seems cold. Reading ahead in stored order is no cache: each page is used once.
void CacheProof::prove_thirds(harness::RecordCache& proof) {
  for (size_t third = 1; third < marks_.size(); ++third) {
    const Mark &begin = marks_[third - 1], &end = marks_[third];
    if (!begin.read || !end.read) return;
    proof.device_bytes_by_third.push_back(*end.read - *begin.read);
    proof.encoded_bytes_by_third.push_back(end.encoded - begin.encoded);
    if (!counts_) continue;
    const int64_t records = end.records - begin.records;
    const double cached = records > 0 ? double(end.cached - begin.cached) / double(records) : 0;
    proof.cached_records_by_third.push_back(cached);
    if (records < kFewestRecords || cached <= kMostCached || !violation_.empty()) continue;
    proof.state = "mixed";
    violation_ = fmt::format(
        "the row requests a cold page cache, but {:.0f} % of the records that it read in third {} of 3 of "
        "the timed window were in the cache: read-ahead holds too much of so small a data set; take more "
        "images, "
        "or readahead: false",
        cached * 100, third);
  }
}

harness::RecordCache CacheProof::slice_ended(int64_t encoded_bytes) {
  harness::RecordCache proof;
  proof.requested = requested_;
  proof.storage_used = used_;
  proof.state = "none";
  proof.encoded_bytes = encoded_bytes;
  proof.metadata = metadata_;
  proof.read_ahead_kb = read_ahead_kb_;
  const bool remote = !server_counter_.empty();
  std::optional<double> from_device;  // share of the delivered bytes
  if (const auto now = bytes_read(); now && read_before_ && encoded_bytes > 0 && (cached_ || remote)) {
    (remote ? proof.server_bytes : proof.device_bytes) = *now - *read_before_;
    from_device = double(*now - *read_before_) / double(encoded_bytes);
  }
  if (!cached_) {
    proof.note = remote ? "the client caches nothing; the server's page cache is not controlled"
                        : "no page cache between this storage and the loader";
    return proof;
  }
  if (!read_elsewhere_.empty())
    if (const auto after = resident_share(read_elsewhere_); after && resident_)
      resident_ = std::min(*resident_, *after);
  const bool uncounted = from_device == 0 && !remote_file_system_.empty();
  if (uncounted) from_device.reset();
  prove_whole_slice(proof, from_device);
  if (!remote && !uncounted) prove_thirds(proof);
  if (remote)
    proof.note = "state of the mount's cache; the server's page cache is not controlled";
  else if (uncounted)
    proof.note = fmt::format(
        "{}, of which the kernel may count no reads: shown is what was cached before the slice alone, and "
        "the server's cache is not controlled",
        remote_file_system_);
  else if (locked_)
    proof.note = "locked in memory (mlock)";
  else if (requested_ == "cold")
    proof.note = "in a virtual machine cold means cold for the guest: its host may still cache";
  return proof;
}

}  // namespace bench

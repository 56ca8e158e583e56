#include "bench/loading/storage/cache_proof.h"

#include <fmt/format.h>

#include <fstream>

namespace bench {

// Cold: almost no page is resident, and almost all bytes come from the device during the slice. Warm: the
// reverse. The margins allow for file-system metadata and read-ahead of neighbouring files.
constexpr double kColdResident = 0.02, kWarmResident = 0.98, kColdDeviceShare = 0.9, kWarmDeviceShare = 0.1;

CacheProof::CacheProof(const std::string& requested, const Storage& storage,
                       const std::vector<int64_t>& records, std::filesystem::path server_counter)
    : requested_(requested), used_(storage.used()), server_counter_(std::move(server_counter)) {
  const FileList files = storage.cached_files(records);
  cached_ = !files.empty();
  if (!cached_) return;
  if (requested_ == "cold") drop_from_page_cache(files);
  if (requested_ == "warm") read_into_page_cache(files);
  // mincore is meaningless for an rclone mount, because each open() drops the file's pages. The relevant
  // cache is rclone's own, which is empty when the row starts.
  if (server_counter_.empty()) resident_ = resident_share(files);
}

// Bytes read so far from the storage's source: a block device or an object store.
std::optional<int64_t> CacheProof::bytes_read() const {
  if (server_counter_.empty()) return device_bytes_read();
  std::ifstream lines(server_counter_);
  int64_t bytes = 0;
  for (std::string key; lines >> key >> bytes;)
    if (key == "wchar:") return bytes;
  return std::nullopt;
}

void CacheProof::slice_begins() { read_before_ = bytes_read(); }

harness::RecordCache CacheProof::slice_ended(int64_t encoded_bytes) {
  harness::RecordCache proof;
  proof.requested = requested_;
  proof.storage_used = used_;
  proof.state = "none";
  proof.encoded_bytes = encoded_bytes;
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
  proof.resident_before = resident_;
  const bool seems_cold =
      (!resident_ || *resident_ <= kColdResident) && (!from_device || *from_device >= kColdDeviceShare);
  const bool seems_warm =
      (!resident_ || *resident_ >= kWarmResident) && (!from_device || *from_device <= kWarmDeviceShare);
  const bool known = resident_ || from_device;
  proof.state = !known ? "unknown" : seems_cold ? "cold" : seems_warm ? "warm" : "mixed";
  if (known && ((requested_ == "cold" && !seems_cold) || (requested_ == "warm" && !seems_warm)))
    violation_ =
        remote
            ? fmt::format(
                  "the row requests a {} mount cache, but the object store sent {:.0f} % of the "
                  "delivered bytes during the slice",
                  requested_, *from_device * 100)
            : fmt::format(
                  "the row requests a {} page cache, but {} of the pages were resident before the slice and "
                  "{} of the delivered bytes came from the device during it",
                  requested_, resident_ ? fmt::format("{:.0f} %", *resident_ * 100) : "an unknown share",
                  from_device ? fmt::format("{:.0f} %", *from_device * 100) : "an unknown share");
  if (remote)
    proof.note = "state of the mount's cache; the server's page cache is not controlled";
  else if (requested_ == "cold")
    proof.note = "in a virtual machine cold means cold for the guest: its host may still cache";
  return proof;
}

}  // namespace bench

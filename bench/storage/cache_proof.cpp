#include "bench/storage/cache_proof.h"

#include <fmt/format.h>

namespace bench {

// Cold: nearly nothing may be resident, and nearly every byte must come from the device during the slice.
// Warm: the reverse. The margins leave room for file-system metadata and for files that share pages with
// read-ahead.
constexpr double kColdResident = 0.02, kWarmResident = 0.98, kColdDeviceShare = 0.9, kWarmDeviceShare = 0.1;

CacheProof::CacheProof(const std::string& requested, const Storage& storage,
                       const std::vector<int64_t>& records)
    : requested_(requested), used_(storage.used()) {
  const Files files = storage.cached_files(records);
  on_disk_ = !files.empty();
  if (!on_disk_) return;
  if (requested_ == "cold") drop_from_page_cache(files);
  if (requested_ == "warm") read_into_page_cache(files);
  resident_ = resident_share(files);
}

void CacheProof::slice_begins() { read_before_ = device_bytes_read(); }

nlohmann::json CacheProof::slice_ended(int64_t encoded_bytes) {
  nlohmann::json proof = {{"requested", requested_},
                          {"storage_used", used_},
                          {"state", "none"},
                          {"resident_before", nullptr},
                          {"device_bytes", nullptr},
                          {"encoded_bytes", encoded_bytes},
                          {"note", ""}};
  if (!on_disk_) {
    proof["note"] = "no page cache between this storage and the loader";
    return proof;
  }
  if (resident_) proof["resident_before"] = *resident_;
  std::optional<double> from_device;  // share of the delivered bytes
  if (const auto now = device_bytes_read(); now && read_before_ && encoded_bytes > 0) {
    proof["device_bytes"] = *now - *read_before_;
    from_device = double(*now - *read_before_) / double(encoded_bytes);
  }
  const bool seems_cold =
      (!resident_ || *resident_ <= kColdResident) && (!from_device || *from_device >= kColdDeviceShare);
  const bool seems_warm =
      (!resident_ || *resident_ >= kWarmResident) && (!from_device || *from_device <= kWarmDeviceShare);
  const bool known = resident_ || from_device;
  proof["state"] = !known ? "unknown" : seems_cold ? "cold" : seems_warm ? "warm" : "mixed";
  if (known && ((requested_ == "cold" && !seems_cold) || (requested_ == "warm" && !seems_warm)))
    violation_ = fmt::format(
        "page cache was asked to be {}, but {} of the pages were resident before the slice and {} of "
        "the delivered bytes came from the device during it",
        requested_, resident_ ? fmt::format("{:.0f} %", *resident_ * 100) : "an unknown share",
        from_device ? fmt::format("{:.0f} %", *from_device * 100) : "an unknown share");
  if (requested_ == "cold")
    proof["note"] = "in a virtual machine cold means cold for the guest: its host may still cache";
  return proof;
}

}  // namespace bench

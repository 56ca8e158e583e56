#include "harness/plan/loading_changes.h"

#include "harness/config/config.h"
#include "harness/config/row_traits.h"

namespace harness {

void ChangedRows::add(const std::string& name, const std::string& why_not,
                      const std::function<void(Row&)>& change) {
  ChangedRow changed{row_, why_not};
  changed.row.id = name;
  if (why_not.empty()) try {
      change(changed.row);
      check_combination(changed.row, {name}, values_);
    } catch (const ConfigError& error) {
      changed.why_not = error.what();
    }
  all_.push_back(std::move(changed));
}

static void read_from_memory(Row& row, const std::string& storage, const AxisValues& values) {
  row.storage = storage;
  row.cache = has_page_cache(values, storage) ? "warm" : "as_is";
  row.read_rate = row.read_latency_ms = row.store_rate_mbit = row.store_latency_ms = 0;
}

void add_loading_changes(const Row& row, bool own_images, const AxisValues& values, ChangedRows& changes) {
  const bool loads = row.storage != "synthetic";
  const std::string nothing = loads ? "" : "storage synthetic loads nothing";
  changes.add("unchanged", "", [](Row&) {});
  changes.add("more_threads", row.loader_threads > 256 ? "loader_threads can be 512 at most" : nothing,
              [](Row& row) { row.loader_threads = std::max<int64_t>(1, 2 * row.loader_threads); });
  changes.add("fewer_threads", row.loader_threads < 2 ? "one loader thread can't be halved" : nothing,
              [](Row& row) { row.loader_threads /= 2; });
  const bool emulated_limit = row.read_rate > 0 || row.read_latency_ms > 0;
  const bool remote = !service_of(values, row.storage).empty();
  const bool in_memory = row.cache == "warm" || (!has_page_cache(values, row.storage) && !remote);
  changes.add("in_memory",
              !loads                         ? nothing
              : in_memory && !emulated_limit ? "it is read from memory already"
                                             : "",
              [&](Row& row) { read_from_memory(row, remote ? "tmpfs" : row.storage, values); });
  changes.add("no_decoding",
              !loads                 ? nothing
              : row.storage == "raw" ? "storage raw has nothing to decode"
              : own_images           ? "raw pixels of --data would take about twice its disk space; without "
                                       "--data, stand-in images are tried"
                                     : "",
              [&](Row& row) {
                read_from_memory(row, "raw", values);
                if (emulates_cores(row)) row.core_images_per_s = kUnlimitedCore;
              });
  changes.add("made_up", nothing, [&](Row& row) {
    read_from_memory(row, "synthetic", values);
    row.order = "shuffled";
  });
}

}  // namespace harness

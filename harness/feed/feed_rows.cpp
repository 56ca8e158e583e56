#include "harness/feed/feed_rows.h"

#include <algorithm>

#include "harness/base/machine.h"
#include "harness/config/config.h"
#include "harness/config/row_traits.h"
#include "harness/report/summary/feed_binding.h"

namespace harness {
namespace {

bool is_set(const Request& request, const std::string& field) {
  return std::any_of(request.set.begin(), request.set.end(),
                     [&](const std::string& text) { return text.rfind(field + "=", 0) == 0; });
}

void read_from_memory(Row& row, const std::string& storage, const AxisValues& values) {
  row.storage = storage;
  row.cache = has_page_cache(values, storage) ? "warm" : "as_is";
  row.read_rate = row.read_latency_ms = row.store_rate_mbit = row.store_latency_ms = 0;
}

// Rows with one change, and the reason for those that don't exist here.
class Changes {
 public:
  Changes(FeedRows& rows, const AxisValues& values) : rows_(rows), values_(values) {}

  void add(const std::string& purpose, const std::string& why_not, const std::function<void(Row&)>& change) {
    Row row = rows_.asked;
    row.id = purpose;
    row.title = title_of_change(purpose);
    if (!why_not.empty()) {
      rows_.refused.emplace_back(row, why_not);
      return;
    }
    change(row);
    try {
      check_combination(row, {purpose}, values_);
      rows_.changed.push_back(row);
    } catch (const ConfigError& error) {
      rows_.refused.emplace_back(row, error.what());
    }
  }

 private:
  FeedRows& rows_;
  const AxisValues& values_;
};

}  // namespace

FeedRows feed_rows(const Row& row, const FeedRequest& feed, const Request& request, const Scale& scale,
                   const AxisValues& values) {
  for (const char* field :
       {"device", "device_file", "devices", "nodes", "strategy", "backend", "batch", "time_scale"})
    if (is_set(request, field))
      throw ConfigError({std::string("--set ") + field}, "feed chooses this field itself", "", "",
                        "leave it out; --device and --devices name the devices");
  FeedRows rows;
  Row& asked = rows.asked = row;
  asked.id = "feed";
  if (!is_set(request, "model"))
    assign(asked, "model", {feed.model, {"--model " + feed.model}}, scale.c0, values);
  if (!is_set(request, "storage"))
    assign(asked, "storage", {feed.storage, {"--storage " + feed.storage}}, scale.c0, values);
  const int64_t cores = int64_t(base::available_cpus().size());
  if (!is_set(request, "cpus")) asked.cpus = cores;
  if (!is_set(request, "loader_threads")) asked.loader_threads = asked.cpus;
  const bool page_cache = has_page_cache(values, asked.storage);
  if (!is_set(request, "cache")) asked.cache = page_cache ? "cold" : "as_is";
  if (trait(values, "storage", asked.storage, &Traits::stream, false) && !is_set(request, "order"))
    asked.order = "windowed";
  check_combination(asked, {"--storage " + asked.storage}, values);

  Changes changes(rows, values);
  const bool loads = asked.storage != "synthetic";
  const std::string nothing = loads ? "" : "storage synthetic loads nothing";
  changes.add("unchanged", "", [](Row&) {});
  changes.add("more_threads", asked.loader_threads > 256 ? "loader_threads can be 512 at most" : nothing,
              [](Row& row) { row.loader_threads = std::max<int64_t>(1, 2 * row.loader_threads); });
  changes.add("fewer_threads", asked.loader_threads < 2 ? "one loader thread can't be halved" : nothing,
              [](Row& row) { row.loader_threads /= 2; });
  const bool emulated_limit = asked.read_rate > 0 || asked.read_latency_ms > 0;
  const bool remote = !service_of(values, asked.storage).empty();
  const bool in_memory = asked.cache == "warm" || (!page_cache && !remote);
  changes.add("in_memory",
              !loads                         ? nothing
              : in_memory && !emulated_limit ? "it is read from memory already"
                                             : "",
              [&](Row& row) { read_from_memory(row, remote ? "tmpfs" : row.storage, values); });
  changes.add("no_decoding",
              !loads                   ? nothing
              : asked.storage == "raw" ? "storage raw has nothing to decode"
              : !request.data.empty() ? "raw pixels of --data would take about twice its disk space; without "
                                        "--data, stand-in images are tried"
                                      : "",
              [&](Row& row) { read_from_memory(row, "raw", values); });
  changes.add("made_up", nothing, [&](Row& row) {
    read_from_memory(row, "synthetic", values);
    row.order = "shuffled";
  });
  return rows;
}

}  // namespace harness

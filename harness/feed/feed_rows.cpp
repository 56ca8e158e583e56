// Sets the asked model, storage and loader in a row, and derives the changed rows from it.
#include "harness/config/config.h"
#include "harness/config/row_traits.h"
#include "harness/experiment/intervention.h"
#include "harness/feed/feed.h"

namespace harness {

FeedRows feed_rows(const Row& row, const FeedRequest& feed, const Request& request, const Scale& scale,
                   const AxisValues& values) {
  for (const char* field :
       {"device", "device_file", "devices", "nodes", "strategy", "backend", "batch", "time_scale"})
    if (sets(request, field))
      throw ConfigError({std::string("--set ") + field}, "feed chooses this field itself", "", "",
                        "leave it out; --device and --devices name the devices");
  FeedRows rows;
  Row& asked = rows.asked = row;
  asked.id = "feed";
  if (feed.storage == "synthetic")
    throw ConfigError({"--storage synthetic"}, "made-up batches feed any number of devices",
                      "a storage of images");
  if (!sets(request, "model"))
    assign(asked, "model", {feed.model, {"--model " + feed.model}}, scale.c0, values);
  if (!sets(request, "storage"))
    assign(asked, "storage", {feed.storage, {"--storage " + feed.storage}}, scale.c0, values);
  if (!sets(request, "loader_threads")) asked.loader_threads = asked.cpus;
  const bool page_cache = has_page_cache(values, asked.storage);
  if (!sets(request, "cache")) asked.cache = page_cache ? "cold" : "as_is";
  if (trait(values, "storage", asked.storage, &Traits::stream, false) && !sets(request, "order"))
    asked.order = "windowed";
  check_combination(asked, {"--storage " + asked.storage}, values);

  for (ChangedRow& changed : changed_rows(asked, {.values = values, .own_images = !request.data.empty()})) {
    if (!find_intervention(changed.row.id)->of_loader) continue;
    changed.row.title = title_of_change(changed.row.id);
    if (changed.why_not.empty())
      rows.changed.push_back(changed.row);
    else
      rows.refused.emplace_back(changed.row, changed.why_not);
  }
  return rows;
}

}  // namespace harness

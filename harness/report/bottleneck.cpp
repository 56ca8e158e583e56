// Finds a row's bottleneck from the shares of the phases and the measured ceilings in its record.
#include "harness/report/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/bottleneck_of_device.h"
#include "harness/report/summary/device_time.h"
#include "harness/report/summary/ratio.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

// From this share of reading in the loader threads' time on, the storage is the cause, not their number.
constexpr double kMostlyReading = 0.5;
// From so many bytes read for each byte used on, the kernel's read-ahead is the cause: a setting, and free to
// change.
constexpr double kReadsTooMuch = 4;
// From this ratio of the all-reduces alone to the exposed time on, the link is the cause, not skewed ranks.
constexpr double kMostlyLink = 0.5;

constexpr const char* kFasterStorage =
    "faster storage: storage=tmpfs or lmdb, a local copy, a packed format, readahead";

std::optional<double> positive(const std::optional<double>& value) {
  return value.value_or(0) > 0 ? value : std::nullopt;
}

// Mean ms per batch of one run, and its ceilings.
struct Times {
  double step = 0, load = 0, copy = 0, communication = 0, compute = 0, contention = 0, other = 0;
  std::optional<DeviceSteps> device;
  std::optional<RankWaits> ranks;
  std::optional<double> loader_alone, compute_alone, all_reduce_alone;
  double read_share = 0;
};

// A device that runs behind the host has times of its own: the host's say where it waited, not for what.
Times times_of(const Record& record, const RunStatistics& run) {
  Times times;
  times.device = device_steps(record);
  times.ranks = rank_waits(record);
  const bool on_device = times.device.has_value();
  const auto ms = [&](const std::vector<std::string>& phases) {
    return on_device ? device_ms(record, phases).value_or(0) : phases_ms(run, phases);
  };
  for (const PhaseStatistics& phase : run.phases) times.step += ms({phase.name});
  times.load = ms({"load"});
  times.copy = ms({"h2d", "scatter", "gather"});
  times.other = ms({"other"});
  const double computing = ms({"forward", "loss", "backward", "step"});
  const auto communication = communication_of(record);
  const double copies = ms({"broadcast", "reduce", "sync"});
  // SyncBN's waits are part of forward and backward, but count as communication.
  const double waits = communication ? std::clamp(communication->exposed_ms - copies, 0.0, computing) : 0;
  times.communication = copies + waits;
  times.compute = computing - waits;
  const RecordCeilings ceilings = record.ceilings.value_or(RecordCeilings());
  times.loader_alone = positive(ceilings.loader_ms);
  times.compute_alone = positive(ceilings.compute_ms);
  if (record.communication) times.all_reduce_alone = positive(record.communication->ceiling_ms);
  times.read_share = std::clamp(ceilings.read_share.value_or(0), 0.0, 1.0);
  if (on_device) return times;  // it shares no cores with the loader
  double alone = 0;
  for (const char* phase : {"forward", "loss", "backward", "step"})
    if (const auto ms = ceilings.compute.find(phase); ms != ceilings.compute.end()) alone += ms->second;
  if (alone > 0) times.contention = std::clamp(computing - alone, 0.0, times.compute);
  return times;
}

StepShares shares_of(const Times& times) {
  const bool launches = times.device && times.device->bound_by_launches();
  const double computing = (times.compute - times.contention) / times.step;
  return {.loader = times.load / times.step,
          .copy = times.copy / times.step,
          .communication = times.communication / times.step,
          .device = launches ? 0 : computing,
          .launch = launches ? computing : 0,
          .cpu = (times.contention + times.other) / times.step};
}

// Sets the images/s at the ends of the mean batch's interval. A ceiling whose interval is wider than itself
// is none.
void set_range(double images, const std::vector<double>& batch_ms, std::optional<double>& ceiling,
               std::optional<Interval>& range) {
  if (batch_ms.empty() || !ceiling) return;  // records of older versions have no times of the batches
  const Mean mean = mean_of_batches(batch_ms);
  const double slow = images * 1000 / (mean.value + mean.reach()),
               fast = images * 1000 / (mean.value - mean.reach());
  if (mean.reach() < mean.value && fast - slow <= *ceiling)
    range = Interval{slow, fast};
  else
    ceiling.reset();
}

// Bytes that the device delivered for each byte of an image that was used; 0 if the record doesn't tell.
double times_read(const Record& record) {
  if (!record.cache || record.cache->encoded_bytes.value_or(0) <= 0) return 0;
  return double(record.cache->device_bytes.value_or(0)) / double(*record.cache->encoded_bytes);
}

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

void blame_loader(const Record& record, const Times& times, Bottleneck& found) {
  const double threads = double(record.config.loader_threads);
  const double cores =
      std::min(double(record.config.cpus), double(record.machine.cores.value_or(1'000'000'000)));
  const bool is_faster_alone =
      found.ceilings.loader &&
      (found.ceilings.loader_range ? found.ceilings.loader_range->low : *found.ceilings.loader) >
          kCoresShared * found.images_per_second;
  // Records without times of each batch are of versions that measured the loader of a cold row on blocks that
  // the slice had just read: that it is faster than the row then shows that the disk holds the row up.
  if (is_faster_alone && !found.ceilings.loader_range && cache_state(record) == "cold") {
    found.verdict = "loader";
    found.cause = "storage";
    found.figure = fmt::format(
        "load {} of the step from a cold cache; the loader alone, over a few batches, "
        "reached {:.0f} images/s",
        percent(found.shares.loader), *found.ceilings.loader);
    found.next = kFasterStorage;
    return;
  }
  if (is_faster_alone) {
    found.verdict = "CPU execution";
    found.cause = "loader and training share the cores";
    found.figure = fmt::format("load {} of the step, although the loader alone reaches {:.0f} images/s",
                               percent(found.shares.loader), *found.ceilings.loader);
    found.next = "more cores, or less work per image: batch_format=uint8, raw pixels, smaller files";
    return;
  }
  found.verdict = "loader";
  found.figure = fmt::format("load {} of the step", percent(found.shares.loader));
  if (times.loader_alone)
    found.figure += fmt::format("; {} of the loader's time is reading", percent(times.read_share));
  const double amplified = times_read(record);
  if (times.read_share >= kMostlyReading && amplified >= kReadsTooMuch) {
    found.cause = "storage, which reads ahead";
    found.figure += fmt::format("; the device delivers {:.0f} times the bytes of the images", amplified);
    found.next = "readahead=false, or a smaller read_ahead_kb of the device";
  } else if (times.read_share >= kMostlyReading) {
    found.cause = "storage";
    found.next = kFasterStorage;
  } else if (threads < cores) {
    found.cause = "too few loader threads";
    found.next = fmt::format("more loader threads: {:.0f} now, {:.0f} cores", threads, cores);
  } else {
    found.cause = "decoding";
    found.next = "more cores, or less work per image: storage=raw, batch_format=uint8";
  }
}

void blame_communication(const Times& times, Bottleneck& found) {
  found.verdict = "communication";
  if (!times.all_reduce_alone && !times.ranks) {  // DataParallel's copies between devices
    found.figure =
        fmt::format("copies of weights and gradients {} of the step", percent(found.shares.communication));
    found.cause = "weights and gradients between devices";
    found.next = "strategy=ddp, whose all-reduces run during backward";
    return;
  }
  found.figure = fmt::format("exposed {} of the step", percent(found.shares.communication));
  found.figure += fmt::format(", exposed are {:.1f} ms", times.communication);
  if (times.all_reduce_alone)
    found.figure += fmt::format("; the all-reduces alone take {:.1f} ms", *times.all_reduce_alone);
  const bool for_a_rank = times.ranks && times.ranks->for_a_rank();
  if (for_a_rank)
    found.figure += fmt::format("; {:.1f} ms of the {:.1f} ms in sync and broadcast on the critical path",
                                times.ranks->critical_ms, times.ranks->mean_ms);
  const bool link = !for_a_rank &&
                    (!times.all_reduce_alone || *times.all_reduce_alone >= kMostlyLink * times.communication);
  if (for_a_rank && times.ranks->slow_rank) {
    found.cause = fmt::format("one slow rank, {}", *times.ranks->slow_rank);
    found.next = "a look at that rank's host: its cores, loader threads and device, the heat map of ranks";
    return;
  }
  found.cause = link ? "the link" : "ranks wait for one another";
  found.next = link ? "a faster link, compression=bf16, or a larger batch per rank"
                    : "ranks of even speed: cores and loader threads per rank, the heat map of ranks";
}

void decide(const Record& record, const Times& times, Bottleneck& found) {
  const StepShares& shares = found.shares;
  if (shares.loader >= kHighShare) return blame_loader(record, times, found);
  if (shares.copy >= kHighShare) {
    found.verdict = "memory copy";
    found.cause = "copying images to the devices";
    found.figure = fmt::format("copies {} of the step", percent(shares.copy));
    found.next = "batch_format=uint8 (a quarter of the bytes), strategy=ddp instead of scattering";
  } else if (shares.communication >= kHighShare) {
    blame_communication(times, found);
  } else if (shares.launch >= kHighShare) {
    found.verdict = "launch";
    found.cause = "the host launches kernels no faster than the device runs them";
    found.figure = fmt::format("the host's launches take {:.1f} ms, the device {:.1f} ms",
                               times.device->launching, times.device->computing);
    found.next = "fewer, larger kernels: cuda_graphs=true, a larger batch per device, a faster core";
  } else if (shares.device >= kBusyShare) {
    found.verdict = times.device ? "kernels" : "device";
    found.figure = fmt::format("computing {} of the step", percent(times.compute / times.step));
    if (times.contention > 0)
      found.figure +=
          fmt::format(", {} without what loader threads add on shared cores", percent(shares.device));
    found.next = "precision=o2 or bf16, a faster device, or more of them";
  } else if (shares.cpu >= kHighShare) {
    const bool host = times.other > times.contention;
    found.verdict = times.device ? "launch" : "CPU execution";
    found.cause = host ? "work of the training thread" : "loader and training share the cores";
    found.figure = host ? fmt::format("the host's own work {} of the step", percent(times.other / times.step))
                        : fmt::format("computing takes {} longer than without the loader",
                                      percent(times.contention / (times.compute - times.contention)));
    found.next = host ? "take work out of the training thread" : "more cores, or fewer loader threads";
  } else {
    const std::vector<std::pair<double, const char*>> all = {
        {shares.loader, "loader"},
        {shares.copy, "memory copy"},
        {shares.communication, "communication"},
        {shares.device, times.device ? "kernels" : "device"},
        {shares.launch, "launch"},
        {shares.cpu, "CPU execution"}};
    const auto largest = std::max_element(all.begin(), all.end());
    found.verdict = "other";
    found.cause = "no single part";
    found.figure = fmt::format("largest: {} {}", largest->second, percent(largest->first));
    found.next = "several small remedies";
  }
}

}  // namespace

std::optional<Bottleneck> bottleneck_of(const Record& record, const RunStatistics& run) {
  if (!run.has_samples || run.mean_ms <= 0) return std::nullopt;
  const Times times = times_of(record, run);
  const double batch = double(record.config.batch);
  const auto rate = [&](const std::optional<double>& ms) {
    return ms ? std::optional(batch * 1000 / *ms) : std::nullopt;
  };
  Bottleneck found;
  found.shares = shares_of(times);
  found.images_per_second = run.images_per_second;
  found.ceilings = {
      rate(times.loader_alone), rate(times.compute_alone), rate(times.all_reduce_alone), {}, {}};
  if (record.ceilings) {
    set_range(batch, record.ceilings->loader_batch_ms, found.ceilings.loader, found.ceilings.loader_range);
    set_range(batch, record.ceilings->compute_batch_ms, found.ceilings.compute, found.ceilings.compute_range);
  }
  if (found.ceilings.loader && found.ceilings.compute)
    found.headroom = std::min(*found.ceilings.loader, *found.ceilings.compute) / run.images_per_second - 1;
  decide(record, times, found);
  return found;
}

std::optional<Bottleneck> bottleneck_of(const SummaryRow& row) {
  return row.ok() && row.record ? bottleneck_of(*row.record, row.run) : std::nullopt;
}

}  // namespace harness

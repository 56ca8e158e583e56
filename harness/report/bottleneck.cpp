// Finds a row's bottleneck from the shares of the phases and the measured ceilings in its record.
#include "harness/report/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/summary/device_time.h"
#include "harness/report/summary/rank_views.h"
#include "harness/report/summary/ratio.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"

namespace harness {
namespace {

// Mean ms per batch of one run, and its ceilings.
struct Times {
  double step = 0, load = 0, copy = 0, communication = 0, compute = 0, contention = 0, other = 0;
  double copy_alone = 0, communication_alone = 0;  // on made-up batches
  std::optional<DeviceSteps> device;
  std::optional<RankViews> ranks;
  std::optional<double> loader_alone, compute_alone, all_reduce_alone;
  double read_share = 0;
};

// A device that runs behind the host has times of its own: the host's say where it waited, not for what.
Times times_of(const Record& record, const RunStatistics& run) {
  Times times;
  times.device = device_steps(record);
  times.ranks = rank_views(record);
  const bool on_device = times.device.has_value();
  const auto ms = [&](const std::vector<std::string>& phases) {
    return on_device ? device_ms(record, phases).value_or(0) : phases_ms(run, phases);
  };
  for (const PhaseStatistics& phase : run.phases) times.step += ms({phase.name});
  times.load = ms({"load"});
  times.copy = ms(phases_of(StepPart::copying));
  times.other = ms({"other"});
  const double computing = ms(phases_of(StepPart::computing));
  const auto communication = communication_of(record);
  const double copies = ms(phases_of(StepPart::link));
  // SyncBN's waits are part of forward and backward, but count as communication.
  const double waits = communication ? std::clamp(communication->exposed_ms - copies, 0.0, computing) : 0;
  times.communication = copies + waits;
  times.compute = computing - waits;
  const RecordCeilings ceilings = record.ceilings.value_or(RecordCeilings());
  times.loader_alone = if_any(ceilings.loader_ms.value_or(0));
  times.compute_alone = if_any(ceilings.compute_ms.value_or(0));
  if (record.communication) times.all_reduce_alone = if_any(record.communication->ceiling_ms.value_or(0));
  times.read_share = std::clamp(ceilings.read_share.value_or(0), 0.0, 1.0);
  if (on_device) return times;  // it shares no cores with the loader
  const auto alone_ms = [&](StepPart part) {
    double sum = 0;
    for (const std::string& phase : phases_of(part))
      if (const auto found = ceilings.compute.find(phase); found != ceilings.compute.end())
        sum += found->second;
    return sum;
  };
  times.copy_alone = alone_ms(StepPart::copying);
  times.communication_alone = alone_ms(StepPart::link);
  if (const double alone = alone_ms(StepPart::computing); alone > 0)
    times.contention = std::clamp(computing - alone, 0.0, times.compute);
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
void set_range(double images, const std::vector<double>& batch_ms, Ceiling& ceiling) {
  if (batch_ms.empty() || !ceiling.known()) return;  // records of older versions have no times of the batches
  const Mean mean = mean_of_batches(batch_ms);
  const double slow = images * 1000 / (mean.value + mean.reach()),
               fast = images * 1000 / (mean.value - mean.reach());
  if (mean.reach() < mean.value && fast - slow <= *ceiling.rate)
    ceiling.range = Interval{slow, fast};
  else
    ceiling.rate.reset();
}

// Bytes that the device delivered for each byte of an image that was used; 0 if the record doesn't tell.
double times_read(const Record& record) {
  if (!record.cache || record.cache->encoded_bytes.value_or(0) <= 0) return 0;
  return double(record.cache->device_bytes.value_or(0)) / double(*record.cache->encoded_bytes);
}

double cores_of(const Record& record) { return double(record.machine.cores.value_or(1'000'000'000)); }

// Threads that compute on this host's cores: one and more per replica or rank, of all nodes that the host
// stands for. 0 with devices of their own.
double computing_threads(const Record& record) {
  if (record.device.kind != "cpu") return 0;
  const Row& row = record.config;
  return double((emulates(record, "link") ? all_devices(row) : row.devices) * row.intra_op_threads);
}
bool is_crowded(const Record& record) { return computing_threads(record) > cores_of(record); }

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }

void blame_loader(const Record& record, const Times& times, Bottleneck& found) {
  const double threads = double(record.config.loader_threads);
  const double cores = emulates_cores(record.config) ? double(record.config.cpus)
                                                     : std::min(double(record.config.cpus), cores_of(record));
  found.verdict = "loader";
  found.figure = fmt::format("load {} of the step", percent(found.shares.loader));
  if (times.loader_alone)
    found.figure += fmt::format("; {} of the loader's time is reading", percent(times.read_share));
  const double amplified = times_read(record);
  if (times.read_share >= kMostlyReading && amplified >= kReadsTooMuch) {
    found.cause = "storage, which reads ahead";
    found.figure += fmt::format("; the disk delivers {:.0f} times the bytes of the images", amplified);
    found.changes = {"no_readahead"};
  } else if (times.read_share >= kMostlyReading || record.config.part == "reading") {
    found.cause = "storage";
    found.changes = {"packed", "in_memory"};
  } else if (threads < cores) {
    found.cause = fmt::format("too few loader threads: {:.0f} on {:.0f} cores", threads, cores);
    found.changes = {"more_threads"};
  } else {
    found.cause = "decoding";
    found.changes = {"smaller_copies", "no_decoding", "more_cores"};
  }
}

void blame_communication(const Times& times, Bottleneck& found) {
  found.verdict = "communication";
  if (!times.all_reduce_alone && !times.ranks) {  // DataParallel's copies between devices
    found.figure =
        fmt::format("copies of weights and gradients {} of the step", percent(found.shares.communication));
    found.cause = "weights and gradients between devices";
    found.changes = {"own_processes"};
    return;
  }
  found.figure = fmt::format("exposed {} of the step", percent(found.shares.communication));
  found.figure += fmt::format(", exposed are {:.1f} ms", times.communication);
  if (times.all_reduce_alone)
    found.figure += fmt::format("; the all-reduces alone take {:.1f} ms", *times.all_reduce_alone);
  const bool for_a_rank = times.ranks && times.ranks->for_a_rank();
  if (for_a_rank)
    found.figure += fmt::format("; {:.1f} ms of the {:.1f} ms in sync and broadcast on the critical path",
                                times.ranks->critical.waits_ms(), times.ranks->mean.waits_ms());
  const bool link = !for_a_rank &&
                    (!times.all_reduce_alone || *times.all_reduce_alone >= kMostlyLink * times.communication);
  if (for_a_rank && times.ranks->slow_rank()) {
    found.cause = fmt::format("one slow rank, {}", times.ranks->critical_rank);
    return;
  }
  found.cause = link ? "the link" : "ranks wait for one another";
  if (link) found.changes = {"faster_link", "faster_peers"};
}

void blame_crowding(const Record& record, const Times& times, Bottleneck& found) {
  found.verdict = "CPU execution";
  found.cause = fmt::format("{:.0f} {} on {:.0f} {}", computing_threads(record),
                            record.world_size > 1 ? "processes" : "replicas", cores_of(record),
                            cores_of(record) == 1 ? "core" : "cores");
  found.figure = fmt::format("computing {} of the step, exposed communication {}",
                             percent(times.compute / times.step), percent(found.shares.communication));
  found.changes = {"more_cores"};
}

void blame_cores(const Record& record, const Times& times, Bottleneck& found) {
  const bool host = times.other > std::max(times.contention, times.load);
  found.verdict = times.device ? "launch" : "CPU execution";
  if (host) {
    found.cause = "work of the training thread";
    found.figure = fmt::format("the host's own work {} of the step", percent(times.other / times.step));
    found.changes = {"no_host_work"};
    return;
  }
  if (is_crowded(record)) return blame_crowding(record, times, found);
  found.cause = "loader and training share the cores";
  found.figure = times.contention > times.load
                     ? fmt::format("computing takes {} longer than without the loader",
                                   percent(times.contention / (times.compute - times.contention)))
                     : fmt::format("load {} of the step, although the loader alone reaches {:.0f} images/s",
                                   percent(found.shares.loader), found.ceilings.loader.rate.value_or(0));
  found.changes = {"more_cores"};
}

void blame_computing(const Record& record, const Times& times, Bottleneck& found) {
  if (is_crowded(record)) return blame_crowding(record, times, found);
  found.verdict = times.device ? "kernels" : "computing";
  found.figure = fmt::format("computing {} of the step", percent(times.compute / times.step));
  if (times.contention > 0)
    found.figure +=
        fmt::format(", {} without what loader threads add on shared cores", percent(found.shares.device));
  found.changes = {"sixteen_bit", "faster_device", "more_devices"};
}

void blame_largest(const Record& record, const Times& times, Bottleneck& found, const StepShares& parts) {
  const double largest =
      std::max({parts.cpu, parts.loader, parts.communication, parts.device, parts.copy, parts.launch});
  if (largest == parts.cpu) return blame_cores(record, times, found);
  if (largest == parts.loader)
    return found.ceilings.loader.known() && !times.device ? blame_cores(record, times, found)
                                                          : blame_loader(record, times, found);
  if (largest == parts.communication)
    return is_crowded(record) && !record.link ? blame_crowding(record, times, found)
                                              : blame_communication(times, found);
  if (largest == parts.device) return blame_computing(record, times, found);
  if (largest == parts.copy) {
    found.verdict = "memory copy";
    found.cause = "copying images to the devices";
    found.figure = fmt::format("copies {} of the step", percent(found.shares.copy));
    found.changes = {"smaller_copies", "own_processes"};
    return;
  }
  found.verdict = "launch";
  found.cause = "the host launches kernels no faster than the device runs them";
  found.figure = fmt::format("the host's launches take {:.1f} ms, the device {:.1f} ms",
                             times.device->launching, times.device->computing);
  found.changes = {"no_launches"};
}

bool touches(double rate, const Ceiling& ceiling) {
  return ceiling.known() &&
         (rate >= kTouches * *ceiling.rate || (ceiling.range && rate >= ceiling.range->low));
}

void decide(const Record& record, const Times& times, Bottleneck& found) {
  const Ceilings& ceilings = found.ceilings;
  const StepShares& shares = found.shares;
  if (!is_crowded(record) && times.ranks && times.ranks->for_a_rank() && times.ranks->slow_rank() &&
      shares.communication >= kUneven)
    return blame_communication(times, found);
  const bool loader_is_lower = ceilings.loader.known() &&
                               (!ceilings.compute.known() || *ceilings.loader.rate < *ceilings.compute.rate);
  if (loader_is_lower && touches(found.images_per_second, ceilings.loader))
    return blame_loader(record, times, found);
  StepShares parts = shares;
  if (touches(found.images_per_second, ceilings.compute))
    parts.loader = 0;  // it is as fast as without a loader
  else if (ceilings.compute.known() && !times.device)
    parts = {.loader = shares.loader,
             .copy = shares.copy - times.copy_alone / times.step,
             .communication = shares.communication - times.communication_alone / times.step,
             .cpu = shares.cpu};
  blame_largest(record, times, found, parts);
}

}  // namespace

std::optional<Bottleneck> bottleneck_of(const Record& record, const RunStatistics& run) {
  if (!run.has_samples || run.mean_ms <= 0) return std::nullopt;
  const Times times = times_of(record, run);
  const double batch = double(record.config.batch);
  const auto ceiling = [&](const std::optional<double>& ms) {
    return ms ? Ceiling{batch * 1000 / *ms} : Ceiling();
  };
  Bottleneck found;
  found.shares = shares_of(times);
  found.images_per_second = run.images_per_second;
  Ceiling& loader = found.ceilings.loader = ceiling(times.loader_alone);
  Ceiling& compute = found.ceilings.compute = ceiling(times.compute_alone);
  found.ceilings.all_reduce = ceiling(times.all_reduce_alone);
  if (record.ceilings) {
    set_range(batch, record.ceilings->loader_batch_ms, loader);
    set_range(batch, record.ceilings->compute_batch_ms, compute);
  }
  if (loader.known() && compute.known())
    found.headroom = std::min(*loader.rate, *compute.rate) / run.images_per_second - 1;
  found.needs_free_cores =
      !times.device && computing_threads(record) + double(record.config.loader_threads) > cores_of(record);
  if (found.cause = no_verdict(record); found.cause.empty())
    decide(record, times, found);
  else
    found.verdict = "-";
  return found;
}

std::string no_verdict(const Record& record) {
  if (record.scale.name == "smoke") return kSmokeOnlyTests;
  if (on_emulated_device(record)) return "";
  const double others = others_share(record).value_or(0), clock = most_changed_clock({&record});
  if (others >= kSpoiledShare) return fmt::format("others took {:.0f} % of its processor time", 100 * others);
  return clock >= kSpoiledShare ? fmt::format("the processor's clock changed by {:.0f} %", 100 * clock) : "";
}

std::optional<Bottleneck> bottleneck_of(const SummaryRow& row) {
  return row.ok() && row.record ? bottleneck_of(*row.record, row.run) : std::nullopt;
}

}  // namespace harness

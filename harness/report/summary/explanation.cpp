// Computes what binds a row, and how sure that is, from the runs of its changes.
#include "harness/report/summary/explanation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "harness/report/summary/change_runs.h"
#include "harness/report/summary/feed_answer.h"
#include "harness/stats/statistics.h"

namespace harness {

namespace {

// The runs that tell the part of a change: the narrower one that gains most, or the nearest rung below it. A
// narrower one whose gain may be chance, such as one that gained less than kLeastGain in its first runs and
// was left out, is none, unless it gains much or the change has too few runs for a verdict as well.
const Intervention* partner_of(const Intervention& change, const RunsByChange& all, const Gains& gains) {
  const auto& own = all.at(change.name).seconds;
  const auto measured = [&](const char* name) {  // in a block of the change, too
    const auto runs = all.find(name);
    return runs != all.end() && std::ranges::any_of(runs->second.seconds, [&](const auto& block) {
             return own.count(block.first) > 0;
           });
  };
  if (!change.includes.empty()) {
    const auto whole = gains.of("unchanged", change.name);
    if (!whole) return nullptr;
    const auto is_known = [&](const Ratio& gain) {
      return (gain.decides() && gain.low > 1) || gain.value >= kClearGain || !whole->decides();
    };
    // What it goes beyond ran in other blocks alone, and gained: against the unchanged runs it would have
    // that gain as well.
    if (const auto below = all.find(change.against);
        below != all.end() && !below->second.seconds.empty() && !measured(change.against))
      if (const auto gain = gains.of("unchanged", change.against); !gain || gain->value >= kLeastGain)
        return nullptr;
    const char* best = "unchanged";
    double most = kLeastGain;
    for (const char* name : change.includes)
      if (measured(name))
        if (const auto gain = gains.of("unchanged", name); gain && gain->value >= most && is_known(*gain)) {
          best = name;
          most = gain->value;
        }
    return find_intervention(best);
  }
  const Intervention* below = find_intervention(change.against);
  while (below && !measured(below->name)) below = find_intervention(below->against);
  return below;
}

// Of the step of its partner.
double share_of(const Intervention& change, const Ratio& part, const Row& changed, const Row& unchanged) {
  double factor = change.factor;
  if (change.name == std::string("faster_link") && changed.link_rate_mbit > 0)
    factor = changed.link_rate_mbit / unchanged.link_rate_mbit;
  return std::clamp((1 - 1 / part.value) / (factor > 1 ? 1 - 1 / factor : 1), 0.0, 1.0);
}

// Mean of the last quarter of the first `steps` steps, at least one.
double last_loss(const std::vector<double>& loss, size_t steps) {
  const size_t count = (steps + 3) / 4;
  return std::accumulate(loss.begin() + long(steps - count), loss.begin() + long(steps), 0.0) / double(count);
}

// Over the blocks of the trial, whose unchanged run of the same block begins at the same step, and may be
// shorter; unless changes between the steps of that start have trained on other batches.
void compare_loss(ExplainedChange& trial, const RunsByChange& all) {
  for (const auto& [name, runs] : all)
    for (const Record* record : runs.records)
      if (name != "unchanged" && record->job && record->job->process.empty()) return;
  std::vector<double> changed, unchanged;
  for (const Record* record : all.at(trial.change->name).records)
    for (const Record* base : all.at("unchanged").records)
      if (base->intervention->block == record->intervention->block)
        if (const size_t steps = std::min(record->loss.size(), base->loss.size()); steps > 0) {
          changed.push_back(last_loss(record->loss, steps));
          unchanged.push_back(last_loss(base->loss, steps));
        }
  if (changed.empty()) return;
  trial.loss = median(changed);
  trial.unchanged_loss = median(unchanged);
}

ExplainedChange explained(const Intervention& change, const RunsByChange& all, const Gains& gains,
                          int64_t batch) {
  const ChangeRuns& runs = all.at(change.name);
  ExplainedChange result;
  result.change = &change;
  if (runs.seconds.empty()) {
    result.why_not = runs.why_not;
    return result;
  }
  const ChangeRuns& unchanged = all.at("unchanged");
  result.images_per_second = median_images_per_second(runs);
  result.effect = gains.of("unchanged", change.name);
  if (!result.effect) result.why_not = "no block has a figure of it and of the unchanged row";
  result.over = partner_of(change, all, gains);
  if (result.over) result.part = gains.of(result.over->name, change.name);
  if (result.part && *change.resource)
    result.share = share_of(change, *result.part, runs.row, unchanged.row) *
                   median_images_per_second(unchanged) / median_images_per_second(all.at(result.over->name));
  if (change.trial) compare_loss(result, all);
  if (change.burden) result.slope = slope_of(unchanged, runs, batch);
  return result;
}

// What a change that is for_good costs, as far as prices are known. `row`: as changed.
std::optional<double> price_of(const ExplainedChange& change, const Row& row,
                               const Explanation& explanation) {
  const Prices& prices = *explanation.prices;
  const Row& before = explanation.row;
  const std::string name = change.change->name;
  const auto of = [](double amount, const std::optional<double>& each) {
    return each ? std::optional(std::max(0.0, amount) * *each) : std::nullopt;
  };
  if (name == "more_threads" || name == "smaller_copies" || name == "no_launches" || name == "no_host_work")
    return 0;
  if (name == "more_cores") return of(double((row.cpus - before.cpus) * before.nodes), prices.core);
  // Twice the speed: as many devices again.
  if (name == "faster_device") return of(double(all_devices(before)), prices.gpu);
  const double more_images_per_s = change.images_per_second - explanation.images_per_second;
  if (name == "in_memory" && explanation.bytes_per_image > 0 && more_images_per_s > 0)
    return of(more_images_per_s * explanation.bytes_per_image * 1e-6, prices.mb_per_s);
  if (name == "faster_link" && row.link_rate_mbit > 0)
    return of((row.link_rate_mbit - before.link_rate_mbit) * 1e-3 * double(before.nodes), prices.gbit_per_s);
  return std::nullopt;
}

void compare_energy(ExplainedChange& change, const ChangeRuns& runs, const Explanation& explanation) {
  if (!explanation.energy || !change.change->for_good) return;
  constexpr double kJoulesPerKwh = 3.6e6;
  // Twice the speed: as many devices again, as in price_of().
  const int64_t devices =
      all_devices(runs.row) * (change.change->name == std::string("faster_device") ? 2 : 1);
  const auto energy = energy_of(runs.records, *explanation.prices, change.images_per_second, devices);
  const double before = explanation.energy->joules_per_image;
  if (!energy || energy->measured != explanation.energy->measured || before <= 0 ||
      energy->joules_per_image <= 0)
    return;
  change.more_images_per_kwh = kJoulesPerKwh / energy->joules_per_image - kJoulesPerKwh / before;
  change.less_kwh_per_image = (before - energy->joules_per_image) / kJoulesPerKwh;
}

void decide(std::vector<ExplainedChange>& changes) {
  std::map<ExplainedChange*, Judgement> judged;
  for (ExplainedChange& change : changes) {
    if (!change.part || !*change.change->resource) continue;
    Judgement& judgement = judged[&change] = judge(*change.part, {.low = 1, .margin = kLeastGain - 1});
    if (!judgement.p) judgement.p = 1;  // what was left out after its first run is of the family, too
  }
  std::vector<Judgement*> family;
  for (auto& [change, judgement] : judged) family.push_back(&judgement);
  correct(family);
  for (const auto& [change, judgement] : judged) {
    change->p = *judgement.p;
    change->decided = judgement.verdict == Verdict::holds;
  }
}

void sort_by_gain(std::vector<ExplainedChange>& changes) {
  const auto place = [](const ExplainedChange& it) {
    const bool relief = *it.change->resource;
    return std::pair(relief ? 0 : it.change->burden ? 2 : 1, relief && it.effect ? -it.effect->value : 0.0);
  };
  std::ranges::stable_sort(changes, [&](const auto& a, const auto& b) { return place(a) < place(b); });
}

void explain(Explanation& result, const RunsByChange& all) {
  const auto unchanged = all.find("unchanged");
  if (unchanged == all.end()) return;
  result.unchanged = unchanged->second.records;
  result.blocks = unchanged->second.seconds.size();
  result.why_not = unchanged->second.why_not;
  if (result.blocks > 0) result.images_per_second = median_images_per_second(unchanged->second);
  const Gains gains(all);
  for (const Intervention& change : interventions())
    if (change.name != std::string("unchanged") && all.count(change.name))
      result.changes.push_back(explained(change, all, gains, result.row.batch));
  if (result.prices && result.prices->kwh)
    result.energy = energy_of(unchanged->second.records, *result.prices, result.images_per_second,
                              all_devices(result.row));
  if (result.prices)
    for (ExplainedChange& change : result.changes)
      if (change.effect) {
        const ChangeRuns& runs = all.at(change.change->name);
        change.price = price_of(change, runs.row, result);
        compare_energy(change, runs, result);
      }
  decide(result.changes);
  sort_by_gain(result.changes);
}

Explanation explanation_of(const RecordList& records, const Record& first) {
  Explanation result;
  result.of = first.intervention->of;
  result.own = first.job.has_value();
  for (const Record* record : records)
    if (record->intervention && record->intervention->of == result.of &&
        record->intervention->change == "unchanged" && (is_ok(*record) || result.row.id.empty())) {
      result.row = record->config;
      result.emulated = record->emulation.has_value();
      result.scale = record->scale.name;
      result.prices = record->intervention->prices;
      if (record->data.bytes && record->data.images.value_or(0) > 0)
        result.bytes_per_image = double(*record->data.bytes) / double(*record->data.images);
    }
  explain(result, runs_by_change(records, result.of));
  return result;
}

}  // namespace

bool ExplainedChange::is_candidate() const { return *change->resource && !change->trial && part; }

std::vector<const ExplainedChange*> Explanation::binding() const {
  std::vector<const ExplainedChange*> found;
  for (const ExplainedChange& change : changes)
    if (change.decided && !change.change->trial) found.push_back(&change);
  std::ranges::stable_sort(found, [](const auto* a, const auto* b) { return a->share > b->share; });
  return found;
}

const ExplainedChange* Explanation::likely() const {
  const ExplainedChange* found = nullptr;
  for (const ExplainedChange& change : changes)
    if (change.is_candidate() && change.part->value >= kLeastGain && (!found || change.share > found->share))
      found = &change;
  return found && found->decided ? nullptr : found;
}

std::set<std::string> changes_without_gain(const Explanation& explanation) {
  std::set<std::string> slower;
  double best = 1;
  for (const ExplainedChange& change : explanation.changes) {
    if (!*change.change->resource || !change.effect) continue;
    best = std::max(best, change.effect->value);
    if (std::max(change.effect->value, change.part ? change.part->value : 0) < kLeastGain)
      slower.insert(change.change->name);
  }
  return best < kClearGain ? std::set<std::string>() : slower;
}

std::vector<Explanation> explanations_of(const RecordList& records) {
  std::vector<Explanation> all;
  for (const Record* record : records) {
    if (!record->intervention) continue;
    const bool known =
        std::ranges::any_of(all, [&](const Explanation& it) { return it.of == record->intervention->of; });
    if (!known) all.push_back(explanation_of(records, *record));
  }
  return all;
}

Explanation explanation_of_loader(const RecordList& records) {
  RunsByChange all = {{"unchanged", {}}};
  std::map<std::string, std::vector<double>> rates;
  for (const Record* record : records) {
    if (!record->feed || !find_intervention(record->feed->purpose)) continue;
    ChangeRuns& runs = all[record->feed->purpose];
    const auto rate = delivered_images_per_second(*record);
    runs.row = record->config;
    if (is_ok(*record) && rate) {
      rates[record->feed->purpose].push_back(*rate);
      runs.records.push_back(record);
    } else {
      runs.why_not = record->reason;
    }
  }
  for (const auto& [purpose, values] : rates) all[purpose].seconds[0] = 1 / median(values);
  Explanation result;
  explain(result, all);
  return result;
}

}  // namespace harness

// Formats gains with their intervals, per unit of price and per kWh, and words the conclusion.
#include "harness/report/explain_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>

#include "harness/base/plain_text.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

constexpr double kWidest = 10;  // high / low of an interval that is shown
bool is_vague(const Ratio& gain) { return gain.high > kWidest * gain.low; }

std::string interval(const Ratio& gain) {
  if (is_vague(gain)) return "undecided";
  return fmt::format("{:.2f} ({:.2f} to {:.2f}{})", gain.value, gain.low, gain.high,
                     gain.pooled || gain.own_scatter ? ", pooled" : "");
}

const RecordJob* job_of(const Explanation& explanation) {
  const RecordList& runs = explanation.unchanged;
  return runs.empty() || !runs[0]->job ? nullptr : &*runs[0]->job;
}
// What is explained, in sentences.
const char* subject(const Explanation& explanation) { return explanation.own ? "job" : "row"; }
const char* items(const Explanation& explanation) { return explanation.own ? "items" : "images"; }

// `+120 (+90 to +150)`, images per second against the unchanged row.
std::string gain(const Explanation& explanation, const Ratio& effect) {
  if (is_vague(effect)) return "-";
  const double rate = explanation.images_per_second;
  return fmt::format("{:+.0f} ({:+.0f} to {:+.0f})", rate * (effect.value - 1), rate * (effect.low - 1),
                     rate * (effect.high - 1));
}

// Images per second gained for one unit of money, and its range.
std::string gain_per_price(const Explanation& explanation, const ExplainedChange& change) {
  if (!change.price || is_vague(*change.effect)) return "-";
  if (*change.price == 0) return "free";
  const double each = explanation.images_per_second / *change.price;
  return fmt::format("{:.3g} ({:.3g} to {:.3g})", each * (change.effect->value - 1),
                     each * (change.effect->low - 1), each * (change.effect->high - 1));
}

// `+1200 (stated)`
std::string gain_per_kwh(const Explanation& explanation, const ExplainedChange& change) {
  if (!change.more_images_per_kwh) return "-";
  return fmt::format("{:+.0f} ({})", *change.more_images_per_kwh,
                     explanation.energy->measured ? "measured" : "stated");
}

std::string money_saved(const Explanation& explanation, const ExplainedChange& change) {
  if (!change.less_kwh_per_image) return "-";
  return fmt::format("{:+.3g}", 1e6 * *change.less_kwh_per_image * *explanation.prices->kwh);
}

// `EUR` of `EUR/month`
std::string money_of(const Prices& prices) { return prices.unit.substr(0, prices.unit.find('/')); }

std::string energy_note(const Explanation& explanation) {
  if (!explanation.energy)
    return "Energy is unknown: not every GPU measured it, and the price file doesn't state the watts of " +
           std::string(explanation.row.device == "cpu" ? "a core (watts_per_core)."
                                                       : "a device (watts_per_gpu).");
  return fmt::format(
      "images per kWh: {:.0f} unchanged, {}.", 3.6e6 / explanation.energy->joules_per_image,
      explanation.energy->measured
          ? "measured by NVML: GPUs only, without processor and host"
          : "from the stated watts of the price file, as if each core and device always drew them");
}

std::string title_of(const ExplainedChange& change) {
  const std::string name = change.change->name;
  const bool timed = name == "timed_device" || name == "faster_device";
  return change.change->title + std::string(timed ? " (emulated)" : "");
}

std::string makes_faster(const Explanation& explanation, const ExplainedChange& change) {
  const std::string times =
      is_vague(*change.part) ? fmt::format("at least {:.2f}", change.part->low) : interval(*change.part);
  std::string text =
      fmt::format("{} makes the {} {} times as fast", title_of(change), subject(explanation), times);
  if (change.over->name != std::string("unchanged"))
    text += fmt::format(" as with {}", title_of_change(change.over->name));
  return text;
}

// `; next: loader (16 %), logging (3 %)`; empty without any.
std::string shares_of(std::span<const ExplainedChange* const> changes, const char* before) {
  std::string text;
  for (const ExplainedChange* change : changes)
    text += fmt::format("{}{} ({:.0f} %)", text.empty() ? before : ", ", change->change->resource,
                        100 * change->share);
  return text;
}

// A job without its loader is about as fast, and no relief is a visible part of its step: what is left is the
// step itself.
std::string step_itself(const Explanation& explanation) {
  const auto visible = [](const ExplainedChange& it) {
    return it.is_candidate() && it.part->value >= kLeastGain && it.share >= kLeastBindingShare;
  };
  if (!explanation.own || std::ranges::any_of(explanation.changes, visible)) return "";
  for (const ExplainedChange& change : explanation.changes)
    if (change.change->name == std::string("replayed") && change.effect && change.effect->decides() &&
        !is_vague(*change.effect) && 1 - 1 / change.effect->high < kLeastBindingShare) {
      const std::string sure = shares_of(explanation.binding(), "; sure, but small: ");
      return fmt::format(
          "the step itself: without its loader the job is {} times as fast{}", interval(*change.effect),
          sure.empty()
              ? fmt::format(", and no other change gains {:.0f} % for certain", 100 * (kLeastGain - 1))
              : sure);
    }
  return "";
}

// What is likely, how sure that is, and what would decide.
std::string not_sure(const Explanation& explanation) {
  if (const ExplainedChange* likely = explanation.likely()) {
    const Ratio& gain = *likely->part;
    if (is_vague(gain))
      return fmt::format(
          "undecided: the gain of {} may be any in a range of more than {:.0f} to 1, so much do its {} runs "
          "scatter. An undisturbed machine or more time decides (--within){}",
          title_of(*likely), kWidest, gain.runs, shares_of(explanation.binding(), "; sure: "));
    const std::string why =
        gain.decides() ? fmt::format("p is {:.2g} after Holm's correction for all changes", likely->p)
                       : fmt::format(
                             "it ran {} time{}; two or three mostly give a verdict, {} where runs "
                             "scatter unequally",
                             gain.runs, gain.runs == 1 ? "" : "s", kFewestRuns);
    return fmt::format("likely {}, but that is not sure: {}; {}. More time decides (--within){}",
                       likely->change->resource, makes_faster(explanation, *likely), why,
                       shares_of(explanation.binding(), "; sure: "));
  }
  const auto& changes = explanation.changes;
  if (std::ranges::none_of(changes, &ExplainedChange::is_candidate))
    return "no answer: no change that relieves a resource was measured; the table tells what was, and why others were not";
  if (std::ranges::none_of(changes, [](const auto& it) { return it.is_candidate() && it.part->decides(); }))
    return "undecided: no change gains anything in its first runs, too few for a verdict (--within)";
  return fmt::format("nothing that could be changed here makes the {} {:.0f} % faster for certain",
                     subject(explanation), 100 * (kLeastGain - 1));
}

std::string binds(const Explanation& explanation) {
  if (explanation.blocks == 0)
    return fmt::format("no figure: the unchanged {} did not run well", subject(explanation)) +
           (explanation.why_not.empty() ? "" : ": " + explanation.why_not);
  if (const std::string text = step_itself(explanation); !text.empty()) return text;
  const auto found = explanation.binding();
  if (found.empty() || explanation.likely()) return not_sure(explanation);
  const ExplainedChange& first = *found[0];
  return fmt::format("{}, {:.0f} % of the step: {}{}", first.change->resource, 100 * first.share,
                     makes_faster(explanation, first), shares_of(std::span(found).subspan(1), "; next: "));
}

std::string next_of(const Explanation& explanation) {
  const auto found = explanation.binding();
  const ExplainedChange* likely = explanation.likely();
  if (likely && is_vague(*likely->part)) return "";
  return likely ? likely->change->next : found.empty() ? "" : found[0]->change->next;
}

std::string remark(const ExplainedChange& change) {
  if (change.slope && !is_vague(*change.effect))
    return fmt::format("each ms added costs {:.2f} ms ({:.2f} to {:.2f})", change.slope->value,
                       change.slope->low, change.slope->high);
  std::string text;
  if (change.part && !is_vague(*change.part) && change.over && change.over->name != std::string("unchanged"))
    text = fmt::format("{} times as fast as with {}", interval(*change.part),
                       title_of_change(change.over->name));
  if (change.loss)
    text = fmt::format("a trial: loss {:.4g} after the same steps, {:.4g} as it is", *change.loss,
                       *change.unchanged_loss);
  else if (change.change->trial)
    text = "a trial: results differ; their loss is compared where --change names nothing else";
  if (is_vague(*change.effect))
    text += fmt::format("{}its runs scatter more than {:.0f} to 1", text.empty() ? "" : "; ", kWidest);
  else if (!change.effect->decides())
    text += (text.empty() ? "" : "; ") + std::string("range, no verdict");
  return text;
}

// Mean shares of the phases of its unchanged steps, the largest first.
std::string shares_of_phases(const Explanation& explanation) {
  std::map<std::string, double> sums;
  double all_ms = 0;
  for (const Record* record : explanation.unchanged)
    for (const PhaseStatistics& phase : phase_statistics(*record)) {
      sums[phase.name] += phase.mean_ms;
      all_ms += phase.mean_ms;
    }
  std::vector<std::pair<double, std::string>> phases;
  for (const auto& [name, ms] : sums) phases.emplace_back(ms, name);
  std::sort(phases.rbegin(), phases.rend());
  std::string text;
  for (const auto& [ms, name] : phases)
    if (ms >= 0.005 * all_ms && ms > 0)
      text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name, 100 * ms / all_ms);
  return text;
}

std::string loader_text(const RecordJob& job) {
  for (const JobLoader& loader : job.loaders)
    if (loader.role == "training")
      return fmt::format("{}, num_workers {}, batches of {} ({})", loader.dataset, loader.workers,
                         loader.batch, loader.shapes);
  return "no torch DataLoader was seen";
}

// The same facts as of a row, of a user's own job.
Facts job_facts(const Explanation& explanation) {
  Facts facts;
  const RecordJob* job = job_of(explanation);
  if (!job) return facts;
  const Record& run = *explanation.unchanged.front();
  facts.emplace_back("Where its time goes", shares_of_phases(explanation) +
                                                " (of the rank's step as it is; no cause "
                                                "is concluded from it)");
  facts.emplace_back("Its loader", loader_text(*job));
  if (job->rank_step_ms.size() > 1) {
    std::string text;
    for (size_t rank = 0; rank < job->rank_step_ms.size(); ++rank)
      text += fmt::format("{}rank {}: {:.3g} ms", rank == 0 ? "" : ", ", rank, job->rank_step_ms[rank]);
    facts.emplace_back("Its ranks",
                       text + " of a step outside of backward, in which they wait for each other");
  }
  facts.emplace_back(
      "Measured with",
      fmt::format("{} steps; blocks: {}; unchanged: {:.4g} items/s; {}, {}, {} each; "
                  "PyTorch {}, Python {}; the probe takes {:.0f} us a step",
                  *run.timed_batches, explanation.blocks, explanation.images_per_second,
                  base::counted(run.world_size, "rank"), base::counted(run.config.cpus, "core"),
                  base::counted(run.config.intra_op_threads, "arithmetic thread"), version_of(run, "PyTorch"),
                  version_of(run, "Python"), job->probe_us.value_or(0)));
  return facts;
}

}  // namespace

Facts explain_facts(const Explanation& explanation) {
  const Row& row = explanation.row;
  Facts facts = {{explanation.own ? "What binds this job"
                                  : fmt::format("What binds row {}{}", explanation.of,
                                                explanation.emulated ? " (emulated)" : ""),
                  binds(explanation)}};
  if (const double taken = most_taken_share(explanation.unchanged); explanation.own && taken > kSpoiledShare)
    facts.insert(facts.begin(), {"Trust", fmt::format("low: others took up to {:.0f} % of the processor; end "
                                                      "what else runs here, and repeat",
                                                      100 * taken)});
  if (explanation.scale == "smoke")
    facts.emplace_back("Trust", fmt::format("none: {}; its figures mean nothing", kSmokeOnlyTests));
  else if (const std::string next = next_of(explanation); !next.empty())
    facts.emplace_back("Try", next);
  if (explanation.own) {
    const auto own = job_facts(explanation);
    facts.insert(facts.end(), own.begin(), own.end());
    return facts;
  }
  facts.emplace_back(
      "Measured with",
      fmt::format("{} batches of {} images; blocks: {}; unchanged: {:.0f} images/s; storage {}, "
                  "cache {}, strategy {}, {}, {}",
                  row.timed_batches, row.batch, explanation.blocks, explanation.images_per_second,
                  row.storage, row.cache, row.strategy, base::counted(row.cpus, "core"),
                  base::counted(row.loader_threads, "loader thread")));
  return facts;
}

Grid explain_grid(const Explanation& explanation) {
  Grid grid;
  grid.title = explanation.own ? "This job: one change at a time"
                               : fmt::format("Row {}: one change at a time{}", explanation.of,
                                             explanation.emulated ? " (emulated)" : "");
  grid.columns = {{"change", true, false, 30},
                  {"relieves", true, false, 18},
                  {fmt::format("{}/s", items(explanation))},
                  {"times as fast"},
                  {fmt::format("gain, {}/s", items(explanation))},
                  {"share"},
                  {"runs"},
                  {"remark", true, false, 30}};
  const bool with_energy = explanation.prices && explanation.prices->kwh;
  std::vector<GridColumn> costs;
  if (explanation.prices) costs.push_back({"gain per " + explanation.prices->unit});
  if (with_energy) {
    costs.push_back({"gain per kWh, images"});
    costs.push_back({"saves " + money_of(*explanation.prices) + " of energy per million images"});
  }
  grid.columns.insert(grid.columns.end() - 1, costs.begin(), costs.end());
  RowsByText not_measured;
  for (const ExplainedChange& change : explanation.changes) {
    if (!change.effect) {
      add_text(not_measured, change.why_not, change.change->name);
      continue;
    }
    const Ratio& effect = *change.effect;
    grid.rows.push_back(
        {title_of(change), *change.change->resource ? change.change->resource : "-",
         fmt::format("{:.0f}", change.images_per_second), interval(effect), gain(explanation, effect),
         *change.change->resource && !is_vague(effect) ? fmt::format("{:.0f} %", 100 * change.share) : "-",
         std::to_string(effect.runs), remark(change)});
    std::vector<std::string> cells;
    if (explanation.prices) cells.push_back(gain_per_price(explanation, change));
    if (with_energy)
      cells.insert(cells.end(), {gain_per_kwh(explanation, change), money_saved(explanation, change)});
    grid.rows.back().insert(grid.rows.back().end() - 1, cells.begin(), cells.end());
  }
  if (with_energy) grid.notes.push_back(energy_note(explanation));
  for (const auto& [why, names] : not_measured)
    grid.notes.push_back(fmt::format("Not measured: {}: {}", fmt::join(names, ", "), why));
  grid.notes.push_back(fmt::format(
      "Each change ran once per block, in random order; what gained nothing in the first block did not run "
      "again where something gained much. times as fast: median over pairs within a block, and its exact "
      "interval from {} blocks on; pooled: of fewer, by Student's t with the scatter of all runs of a kind; "
      "else the range. share: the part of the step that would disappear if the resource took no time. A cause "
      "is named when its gain is at least {:.0f} % and stays significant after Holm's correction for the "
      "number of changes. A change that includes others is compared with the fastest of them.",
      kFewestRuns, 100 * (kLeastGain - 1)));
  return grid;
}

std::string explain_text(const std::vector<Explanation>& explanations) {
  std::string text;
  for (const Explanation& explanation : explanations) {
    if (!text.empty()) text += '\n';
    text += facts_text(explain_facts(explanation));
    if (const Grid grid = explain_grid(explanation); !grid.empty()) text += "\n" + console_text(grid);
  }
  return text;
}

}  // namespace harness

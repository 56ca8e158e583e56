// Keeps log ratios of equal runs in a file per machine, and derives margins from them by resampling.
#include "harness/compare/noise.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <random>
#include <tuple>

#include "harness/base/json_text.h"
#include "harness/stats/disturbance.h"
#include "harness/stats/provenance.h"
#include "harness/stats/records.h"
#include "harness/stats/statistics.h"

namespace harness {
namespace {

constexpr int kExperiments = 2000;

// The 95 % quantile of the effects of A/A experiments with `runs` pairs, with random signs.
double expected_effect(const std::vector<double>& pairs, size_t runs) {
  std::mt19937_64 random(300);
  std::vector<double> effects, sample(std::max<size_t>(1, runs));
  for (int i = 0; i < kExperiments; ++i) {
    for (double& value : sample) {
      const double pair = pairs[random() % pairs.size()];
      value = random() % 2 ? pair : -pair;
    }
    effects.push_back(std::abs(median(sample)));
  }
  return std::exp(quantile(effects, 0.95)) - 1;
}

std::filesystem::path file_of(const std::filesystem::path& folder, const std::string& machine) {
  std::string name;
  for (char c : machine)
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.empty() && name.back() != '-')
      name += '-';
  return folder / (name + ".jsonl");
}

}  // namespace

double Noise::margin(const std::string& scale, const std::string& row, size_t runs) const {
  double margin = kSmallestMargin;
  const auto of_scale = scales.find(scale);
  if (of_scale == scales.end()) return margin;
  if (const auto found = of_scale->second.find(row); found != of_scale->second.end())
    return std::max(margin, expected_effect(found->second, runs));
  for (const auto& [other, differences] : of_scale->second)
    margin = std::max(margin, expected_effect(differences, runs));
  return margin;
}

Noise noise_of(const Records& records) {
  Noise noise;
  if (!records.empty()) noise.started_at = records.front().started_at;
  using Block = std::tuple<std::string, std::string, std::string, int64_t>;  // scale, row, experiment, block
  std::map<Block, std::map<std::string, double>> blocks;
  for (const Record& record : records) {
    if (!is_ok(record) || !record.pair) continue;
    if (noise.machine.empty()) noise.machine = machine_fingerprint(record);
    // What others took would widen every later margin, and compare() corrects it, too.
    blocks[{record.scale.name, record.row, record.pair->experiment, record.pair->block}][record.pair->side] =
        is_processor_bound(record) ? undisturbed_s(record) : record.total_s.value_or(0);
  }
  for (const auto& [key, sides] : blocks)
    if (sides.count("A") && sides.count("B") && sides.at("A") > 0 && sides.at("B") > 0)
      noise.scales[std::get<0>(key)][std::get<1>(key)].push_back(std::log(sides.at("A") / sides.at("B")));
  return noise;
}

Noise read_noise(const std::filesystem::path& folder, const std::string& machine, std::ostream& warnings) {
  Noise noise;
  noise.machine = machine;
  const std::filesystem::path file = file_of(folder, machine);
  std::ifstream input(file);
  base::read_json_lines(input, file, warnings, "line left out", [&](const nlohmann::json& line, int) {
    if (line.contains("pairs")) return;  // of an earlier version, which kept no scale
    const Noise experiment = decode<Noise>(line);
    for (const auto& [scale, pairs] : experiment.scales)
      for (const auto& [row, values] : pairs)
        if (values.empty() || !std::ranges::all_of(values, [](double it) { return std::isfinite(it); }))
          throw Violation("scales." + scale + "." + row, "finite numbers", values);
    for (const auto& [scale, pairs] : experiment.scales)
      for (const auto& [row, values] : pairs) {
        std::vector<double>& known = noise.scales[scale][row];
        known.insert(known.end(), values.begin(), values.end());
      }
  });
  return noise;
}

void append_noise(const std::filesystem::path& folder, const Noise& noise) {
  std::filesystem::create_directories(folder);
  append_record(file_of(folder, noise.machine), encode(noise));
}

}  // namespace harness

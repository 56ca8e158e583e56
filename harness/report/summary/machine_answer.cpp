// Looks up the figures of the rows by their ids, and words them as sentences and facts.
#include "harness/report/summary/machine_answer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "harness/report/summary/feed_answer.h"

namespace harness {
namespace {

MachineFigure figure_of(const Summary& summary, const std::string& id) {
  const SummaryRow* row = find_row(summary, id);
  if (!row) return {0, "row " + id + " did not run"};
  if (!row->ok()) return {0, fmt::format("row {} is {}: {}", id, row->status, row->reason)};
  return {row->images_per_second, ""};
}

std::string number_of(double devices) {
  return devices >= 1 ? fmt::format("{:.1f}", devices) : fmt::format("{:.2g}", devices);
}

std::string text_of(const MachineFigure& figure, const std::string& known) {
  return figure.images_per_s > 0 ? three_digits(figure.images_per_s) + " images/s" + known
                                 : "not measured: " + figure.why_not;
}

// `V100` of v100-article
std::string name_of(const FedDevices& devices) {
  std::string name = devices.file.substr(0, devices.file.find('-'));
  std::ranges::transform(name, name.begin(), ::toupper);
  return name;
}

double read_mb_per_s(const MachineAnswer& answer) {
  return answer.read.images_per_s * answer.kb_per_image * 1e-3;
}

std::string cores_of(const MachineAnswer& answer) {
  return fmt::format("{} core{}", answer.cores, answer.cores == 1 ? "" : "s");
}

}  // namespace

std::optional<MachineAnswer> machine_answer(const Summary& summary) {
  if (summary.scale != "machine" || summary.rows.empty()) return std::nullopt;
  MachineAnswer answer;
  answer.read = figure_of(summary, "read");
  answer.decode_one = figure_of(summary, "decode-one");
  answer.decode_all = figure_of(summary, "decode-all");
  answer.step = figure_of(summary, "step");
  if (const SummaryRow* all = find_row(summary, "decode-all")) answer.cores = all->config.cpus;
  if (const SummaryRow* read = find_row(summary, "read"); read && read->ok()) {
    answer.kb_per_image = bytes_per_image(*read->record) * 1e-3;
    if (read->cache != "cold")
      answer.read = {0, "whether the page cache was cold can't be told here: its state is " + read->cache};
  }
  const double read = answer.read.images_per_s, decoded = answer.decode_all.images_per_s;
  if (decoded > 0) {
    answer.limit = read > 0 && read < decoded ? "disk" : "cores";
    answer.loader_images_per_s = answer.limit == "disk" ? read : decoded;
  }
  for (const auto& [file, rate] : summary.rows.front().record->device_rates)
    answer.devices.push_back({file, kFedFrom * rate, answer.loader_images_per_s / (kFedFrom * rate)});
  std::ranges::sort(answer.devices,
                    [](const FedDevices& a, const FedDevices& b) { return a.images_per_s < b.images_per_s; });
  return answer;
}

std::string fed_text(const MachineAnswer& answer) {
  if (answer.decode_all.images_per_s <= 0) return "";
  std::vector<std::string> fed;
  for (const FedDevices& devices : answer.devices)
    fed.push_back(fmt::format("{} {} ({} images/s each)", number_of(devices.fed), name_of(devices),
                              three_digits(devices.images_per_s)));
  return fmt::format("{}; limit: {}", fmt::join(fed, ", "), answer.limit);
}

std::string machine_sentence(const MachineAnswer& answer) {
  const double decoded = answer.decode_all.images_per_s;
  const bool reads = answer.read.images_per_s > 0;
  std::vector<std::string> does;
  if (decoded > 0)
    does.push_back(fmt::format("decodes {} images/s on {}", three_digits(decoded), cores_of(answer)));
  if (reads) does.push_back(fmt::format("reads {} MB/s cold", three_digits(read_mb_per_s(answer))));
  std::string text =
      does.empty() ? "Neither decoding nor cold reading could be measured on this machine"
                   : fmt::format("This machine itself, without emulation, {}", fmt::join(does, " and "));
  if (decoded > 0)
    text += fmt::format(": {} {}", reads ? "it feeds ResNet18 on" : "from memory it feeds ResNet18 on",
                        fed_text(answer));
  for (const auto* missing : {&answer.decode_all, &answer.read})
    if (missing->images_per_s <= 0)
      text += fmt::format(". {} was not measured ({})", missing == &answer.read ? "Cold reading" : "Decoding",
                          missing->why_not);
  return text + ".";
}

Facts machine_facts(const MachineAnswer& answer) {
  const double one = answer.decode_one.images_per_s, all = answer.decode_all.images_per_s;
  Facts facts = {
      {"Answer", machine_sentence(answer)},
      {"Reading, cold", text_of(answer.read, fmt::format(" of {:.0f} kB, {} MB/s", answer.kb_per_image,
                                                         three_digits(read_mb_per_s(answer))))},
      {"Decoding, one core", text_of(answer.decode_one, "")},
      {"Decoding, " + cores_of(answer),
       text_of(answer.decode_all, one > 0 ? fmt::format(", {:.2f} times as many", all / one) : "")},
      {"Training on the processor", text_of(answer.step, " in steps of row 0 with a small batch")}};
  for (const FedDevices& devices : answer.devices)
    facts.emplace_back("Feeds " + devices.file,
                       fmt::format("{} devices, each busy for {:.0f} % of the time with {} images/s",
                                   devices.fed > 0 ? number_of(devices.fed) : "an unknown number of",
                                   100 * kFedFrom, three_digits(devices.images_per_s)));
  return facts;
}

}  // namespace harness

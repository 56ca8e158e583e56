// Reads the environment keys of the records. Keys that a record lacks are left out.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "harness/report/grids.h"
#include "harness/stats/disturbance.h"

namespace harness {
namespace {

std::string text_of(const std::string& text) { return text; }
std::string text_of(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}
std::string text_of(const std::optional<bool>& flag) { return !flag ? "" : *flag ? "yes" : "no"; }
std::string text_of(const std::optional<int64_t>& number) { return number ? std::to_string(*number) : ""; }

// One line for each GPU, without what its driver doesn't tell.
std::set<std::string> gpu_lines(const Records& records) {
  std::set<std::string> lines;
  for (const Record& record : records)
    for (const RankGpu& rank : record.gpu)
      for (const GpuFacts& gpu : rank.devices) {
        std::string line = gpu.uuid.empty() ? "GPU" : gpu.uuid;
        for (const auto& [name, text] :
             {std::pair("numa_node", ", NUMA node {}"), std::pair("pcie_generation", ", PCIe {}"),
              std::pair("pcie_width", " x{}"), std::pair("nvlinks", ", {} NVLinks")})
          if (const auto figure = gpu.figure(name)) line += fmt::format(fmt::runtime(text), *figure);
        for (const char* mode : {"ecc", "mig", "persistence"})
          if (const auto on = gpu.figure(mode)) line += fmt::format(", {} {}", mode, *on > 0 ? "on" : "off");
        lines.insert(line);
      }
  return lines;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string figure(const std::optional<double>& value, int digits, double factor = 1) {
  return value ? fmt::format("{:.{}f}", factor * *value, digits) : "-";
}

// One line for each remark, with all rows that have it.
void add_remarks(const Records& records, std::vector<std::string> Record::*list, const char* kind,
                 Grid& grid) {
  RowsByText remarks;
  for (const Record& record : records)
    for (const std::string& remark : record.*list) add_text(remarks, remark, record.row);
  for (const auto& [remark, rows] : remarks)
    grid.rows.push_back({fmt::format("{}", fmt::join(rows, ", ")), kind, remark});
}

}  // namespace

Facts environment_facts(const Records& records) {
  Facts facts;
  const auto add = [&](const std::string& label, const Describe& describe) {
    if (const std::string text = distinct(pointers_to(records), describe); !text.empty())
      facts.emplace_back(label, text);
  };
  const auto add_of = [&](const std::string& label, auto part, auto member) {
    add(label, [=](const Record& record) { return text_of(record.*part.*member); });
  };
  add_of("host", &Record::machine, &RecordMachine::host);
  add_of("processor", &Record::machine, &RecordMachine::cpu);
  add_of("device", &Record::device, &RecordDevice::name);
  for (const std::string& line : gpu_lines(records)) facts.emplace_back("GPU", line);
  add_of("driver", &Record::device, &RecordDevice::driver);
  add_of("cores", &Record::machine, &RecordMachine::cores);
  add("memory", [](const Record& record) {
    const double bytes = double(record.machine.memory_bytes.value_or(0));
    return bytes > 0 ? fmt::format("{:.1f} GiB", bytes / (1 << 30)) : "";
  });
  add_of("16-bit instructions", &Record::machine, &RecordMachine::sixteen_bit_instructions);
  add_of("virtual machine", &Record::machine, &RecordMachine::virtual_machine);
  add_of("governor", &Record::machine, &RecordMachine::governor);
  add_of("kernel", &Record::machine, &RecordMachine::kernel);
  add_of("system", &Record::machine, &RecordMachine::os);
  add_of("revision", &Record::build, &RecordBuild::revision);
  add("compiler",
      [](const Record& record) { return fmt::format("{} {}", record.build.compiler, record.build.flags); });
  add_of("sanitizers", &Record::build, &RecordBuild::sanitize);
  std::set<std::string> libraries;
  for (const Record& record : records)
    for (const auto& [name, version] : record.versions) libraries.insert(name);
  for (const std::string& name : libraries)
    add(name, [&](const Record& record) { return version_of(record, name); });
  add_of("data: kind", &Record::data, &RecordData::kind);
  add_of("data: images", &Record::data, &RecordData::images);
  add_of("data: bytes", &Record::data, &RecordData::bytes);
  add_of("data: classes", &Record::data, &RecordData::classes);
  add_of("data: seed", &Record::data, &RecordData::seed);
  add_of("data: fingerprint", &Record::data, &RecordData::fingerprint);
  add("launcher", [](const Record& record) { return record.launcher; });
  add("seed", [](const Record& record) { return std::to_string(record.config.seed); });
  add("set by hand (--set)", [](const Record& record) { return record.set; });
  std::vector<std::string> times;
  for (const Record& record : records)
    if (const std::string time = record.started_at; !time.empty()) times.push_back(time);
  if (!times.empty())
    facts.emplace_back("rows started", fmt::format("{} to {}", *std::ranges::min_element(times),
                                                   *std::ranges::max_element(times)));
  return facts;
}

Grid disturbance_grid(const Records& records) {
  Grid grid;
  grid.title = "load and disturbance per row";
  grid.columns = {{"row", true}, {"repeat"},     {"status", true},      {"started", true}, {"wall s"},
                  {"load"},      {"others %"},   {"throttled"},         {"memory MB"},     {"cache", true},
                  {"resident"},  {"bad images"}, {"16-bit type", true}, {"launcher", true}};
  for (const Record& record : records) {
    const RecordCache cache = record.cache.value_or(RecordCache());
    const int64_t memory_bytes = record.max_rss_bytes.value_or(0);
    grid.rows.push_back(
        {record.row, std::to_string(record.repeat), record.status, or_dash(record.started_at),
         figure(record.wall_s, 1), figure(record.environment.load_average, 1),
         figure(others_share(record), 1, 100), or_dash(text_of(record.environment.throttled_periods)),
         memory_bytes > 0 ? fmt::format("{:.0f}", double(memory_bytes) / 1e6) : "-", or_dash(cache.state),
         figure(cache.resident_before, 2), or_dash(text_of(record.bad_images)),
         or_dash(record.precision.sixteen_bit), or_dash(record.launcher)});
  }
  grid.notes = {
      "load: load average before the row; others: share of the row's processor time that other machines of "
      "the hypervisor and other processes took during the timed batches; throttled: periods in which the "
      "container's CPU limit stopped the row; memory: highest sum of the processes' anonymous memory; "
      "resident: share of the data in the page cache before the row."};
  return grid;
}

Grid remarks_grid(const Records& records) {
  Grid grid;
  grid.title = "differences from the configuration, and warnings";
  grid.columns = {{"row", true}, {"kind", true}, {"remark", true, true}};
  add_remarks(records, &Record::emulated, "emulated", grid);
  add_remarks(records, &Record::notes, "note", grid);
  add_remarks(records, &Record::warnings, "warning", grid);
  for (const Record& record : records) {
    if (record.status != "OK") grid.rows.push_back({record.row, record.status, record.reason});
    for (const RecordCheck& check : record.checks)
      if (!check.ok) grid.rows.push_back({record.row, "failed check", check.name + ": " + check.detail});
  }
  return grid;
}

Grid rank_grid(const Records& records) {
  Grid grid;
  grid.title = "nodes, devices and cores of the ranks";
  grid.columns = {{"row", true}, {"rank"}, {"node"}, {"host", true}, {"device", true}, {"cores", true, true}};
  std::set<std::vector<std::string>> seen;
  for (const Record& record : records)
    for (const RankPlace& place : record.rank_map) {
      const std::vector<std::string> cells = {record.row,
                                              std::to_string(place.rank),
                                              std::to_string(place.node),
                                              place.host,
                                              place.device,
                                              fmt::format("{}", fmt::join(place.cpus, ", "))};
      if (seen.insert(cells).second) grid.rows.push_back(cells);
    }
  return grid;
}

}  // namespace harness

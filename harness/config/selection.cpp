// Changes resolved rows, and checks the result with the rules of config files.
#include "harness/config/selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/comma_list.h"
#include "harness/config/nearest.h"
#include "harness/config/row_traits.h"

namespace harness {
namespace {

// The fields that define a row's training, without descriptive ones.
nlohmann::json setup_of(const Row& row) {
  nlohmann::json setup = to_json(row);
  for (const Field& field : fields())
    if (field.role == Role::descriptive) setup.erase(field.name);
  setup.erase("window");
  return setup;
}

// The backend that joins devices of this kind and no others; empty: none does.
std::string backend_of(const std::string& device, const AxisValues& values) {
  if (const auto backends = values.find("backend"); backends != values.end())
    for (const AxisValue& backend : backends->second)
      if (backend.traits.device == device) return backend.name;
  return "";
}

// A title such as `one device, large batch` would be wrong with another batch. Other sizes and the device,
// which a run shows in its head, are left out.
void name_changes(const Row& before, const Settings& settings, Row& row) {
  for (const auto& [name, setting] : settings)
    if (name != "device" && (has_role(name, Role::identity) || name == "batch") &&
        field_text(before, name) != field_text(row, name))
      row.title += fmt::format("; {}={}", name, field_text(row, name));
}

}  // namespace

std::vector<Row> select(const std::vector<Matrix>& matrices, const std::string& only) {
  std::map<std::string, std::string> ids;  // by name or alias of the row
  std::map<std::string, Origin> origins;
  std::vector<std::string> names;
  for (const Matrix& matrix : matrices) {
    for (const Row& row : matrix.rows) {
      const Origin& origin = matrix.origins.at(row.id);
      if (auto [other, is_new] = origins.emplace(row.id, origin); !is_new)
        throw ConfigError(
            origin, "two files have a row of the same id", "different ids",
            fmt::format("{} also in {}:{}", in_quotes(row.id), other->second.file, other->second.line),
            "run the files one after the other");
      ids[row.id] = row.id;
      names.push_back(row.id);
    }
    for (const auto& [alias, id] : matrix.aliases) {
      ids.emplace(alias, id);
      names.push_back(alias);
    }
  }
  std::set<std::string> wanted;
  for (const std::string& name : base::split_at_commas(only)) {
    auto found = ids.find(name);
    if (found == ids.end()) {
      const size_t dash = name.find('-');
      if (ids.count(name.substr(0, dash)) && ids.count(name.substr(dash + 1)))
        throw ConfigError({"row " + name}, "rows have no ranges", "ids with commas between them",
                          in_quotes(name), "name each row");
      throw ConfigError({"row " + name}, "no such row", "ids with commas between them (--list shows all)",
                        in_quotes(name), suggestion(name, names));
    }
    wanted.insert(found->second);
  }
  if (wanted.empty() && !only.empty())
    throw ConfigError({in_quotes(only)}, "names no row", "ids with commas between them", "",
                      "e.g. 7,12,lmdb");
  std::vector<Row> rows;
  for (const Matrix& matrix : matrices)
    for (const Row& row : matrix.rows)
      if (only.empty() || wanted.count(row.id)) rows.push_back(row);
  return rows;
}

void set_fields(std::vector<Row>& rows, const std::vector<std::string>& assignments, const Scale& scale,
                const AxisValues& values) {
  if (assignments.empty()) return;
  Settings settings;
  std::string all;
  for (const std::string& assignment : assignments) {
    auto [field, setting] = read_assignment(assignment);
    settings[field] = setting;  // the last one wins
    all += (all.empty() ? "--set " : " --set ") + assignment;
  }
  auto set = [&](Row& row) {
    for (const auto& [field, setting] : settings) assign(row, field, setting, scale.c0, values);
  };
  for (Row& row : rows) {
    const Row before = row;
    set(row);
    apply(scale, row, values);  // its conditions may depend on the fields just set
    set(row);
    name_changes(before, settings, row);
    check_combination(row, {all}, values);
  }
}

NotesByRow choose_backends(std::vector<Row>& rows, bool oversubscribe, const AxisValues& values) {
  NotesByRow notes;
  for (Row& row : rows) {
    std::string backend = backend_of(row.device, values);
    if (backend.empty() || row.backend == "none") continue;
    if (computes(row.device, values)) {
      if (row.strategy == "horovod") continue;
      if (oversubscribe) backend = "gloo";
      if (row.backend != backend)
        notes[row.id].push_back(fmt::format("backend: {} instead of {}, on GPUs", backend, row.backend));
    }
    row.backend = backend;
    check_combination(row, {"device " + row.device}, values);
  }
  return notes;
}

NotesByRow rederive_for_devices(std::vector<Row>& rows, int64_t devices, const AxisValues& values) {
  const Origin origin{fmt::format("--devices {}", devices)};
  if (devices < 2 || devices > 1024)
    throw ConfigError(origin, "rows with several devices can't be rederived", "from 2 to 1024 devices",
                      std::to_string(devices),
                      devices == 1 ? "choose the rows with one device with --only" : "");
  int64_t most = 1;
  for (const Row& row : rows) most = std::max(most, row.devices);
  NotesByRow notes;
  std::map<nlohmann::json, std::string> seen;
  for (Row& row : rows) {
    const int64_t written = row.devices;
    if (written > 1) {
      double share = static_cast<double>(written) / static_cast<double>(most);
      row.devices = std::max<int64_t>(2, std::llround(share * static_cast<double>(devices)));
      if (row.devices != written) {
        notes[row.id].push_back(fmt::format("devices: {} instead of {}", row.devices, written));
        row.title += fmt::format(" (on {} here)", row.devices);  // a title may name the article's number
      }
      const int64_t replicas = all_devices(row);
      const int64_t even = row.batch / replicas * replicas;
      const bool processes = trait(values, "strategy", row.strategy, &Traits::process_per_device, false);
      if (processes && even != row.batch && even > 0) {
        notes[row.id].push_back(fmt::format("batch: {} instead of {}, which {} ranks can't share evenly",
                                            even, row.batch, replicas));
        row.batch = even;
      }
      check_combination(row, origin, values);
    }
    if (auto [other, is_new] = seen.emplace(setup_of(row), row.id); !is_new && written > 1)
      notes[row.id].push_back(
          fmt::format("the same setup as row {} with this number of devices", other->second));
  }
  return notes;
}

}  // namespace harness

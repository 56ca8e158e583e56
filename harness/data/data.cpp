// Computes how many images the rows need, calls make_dataset, and reads the answers from its last line.
#include "harness/data/data.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "harness/base/child_process.h"
#include "harness/base/exit_code.h"
#include "harness/base/file.h"
#include "harness/base/interrupt.h"
#include "harness/base/json_text.h"
#include "harness/base/say.h"
#include "harness/contract/dataset.h"
#include "harness/stats/records.h"

namespace harness {

int64_t images_read(const Row& row) {
  return (batches_of_slice(row, row.loader_threads) + unread_batches_of_ceiling(row, row.loader_threads)) *
         row.batch;
}

int64_t images_needed(const Scale& scale, const std::vector<Row>& rows) {
  int64_t images = scale.images;
  for (const Row& row : rows) images = std::max(images, row.cache == "cold" ? images_read(row) : row.batch);
  return images;
}

// Runs make_dataset and returns its stdout. When it fails, it has printed the reason on stderr.
static std::string run_make_dataset(const Installation& installation, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), installation.make_dataset.string());
  const base::Command command{arguments, {}, {}, {}, {}};
  const base::Finished finished = base::run_to_end(command);
  if (finished.exit_code == base::kInterrupted && !base::interrupted())
    throw PreparationError("make_dataset was interrupted; start the same command again, and it continues");
  if (finished.exit_code != 0 && !base::interrupted())
    throw PreparationError(fmt::format(
        "make_dataset {}; the command was: {}; RUN_MATRIX_DATA names another folder than {}",
        base::ended_in_words(finished.exit_code), base::shell_line(command), installation.data.string()));
  return finished.output;
}

template <class... Answers>
static std::tuple<Answers...> last_line_as(const std::string& output) {
  if (base::interrupted()) return {};  // make_dataset may have ended before its answer
  const std::string text = output.substr(0, output.find_last_not_of('\n') + 1);
  const nlohmann::json object = base::parse_json(text.substr(text.rfind('\n') + 1));
  if (!object.is_object())
    throw PreparationError("make_dataset: expected JSON as the last line of its output, found: " + text);
  return {decode<Answers>(object)...};
}

static fs::path stand_in(const Installation& installation, const Request& request, int64_t images,
                         bool learnable) {
  const fs::path folder =
      installation.data /
      fmt::format("{}-{}-seed{}", learnable ? "learnable" : "stand-in", images, request.seed);
  std::vector<std::string> words = {"standin", "--out", folder, "--images", std::to_string(images)};
  if (learnable) words.insert(words.end(), {"--validation", std::to_string(images / 2), "--classes", "40"});
  words.insert(words.end(), {"--seed", std::to_string(request.seed)});
  run_make_dataset(installation, words);
  return folder;
}

static void pack(const Installation& installation, const AxisValues& values, const fs::path& store,
                 const std::string& storage, Data& data) {
  const std::vector<std::string> command = {"pack", "--index", data.index, "--to", storage, "--store", store};
  const auto make = [&] {
    return std::get<0>(last_line_as<PackAnswer>(run_make_dataset(installation, command)));
  };
  PackAnswer packed = make();
  if (base::interrupted()) return;
  if (packed.made_in_s) data.copied_in_s[storage] = *packed.made_in_s;
  if (!packed.location.empty() && trait(values, "storage", storage, &Traits::transient, false)) {
    // Another run may be removing the copy: lock it, then make it again if it is gone.
    data.held.push_back(std::make_unique<TransientCopy>(packed.location));
    packed = make();
  }
  data.packed[storage] = packed.location;
  if (packed.location.empty()) data.notes[storage] = packed.note;
}

static fs::path store_of(const Installation& installation) { return installation.data / "packed"; }

static Data prepare(const Installation& installation, const Request& request, const fs::path& root,
                    const std::vector<Row>& rows, const AxisValues& values) {
  Data data;
  const fs::path store = store_of(installation);
  std::vector<std::string> index = {"index", "--data", root, "--store", store};
  if (!request.labels_from.empty()) index.insert(index.end(), {"--labels-from", request.labels_from});
  if (request.skip_unreadable) index.push_back("--skip-unreadable");
  if (std::ranges::any_of(rows, &Row::validation)) index.push_back("--validation");
  const auto make = [&] {
    return last_line_as<IndexAnswer, RecordData>(run_make_dataset(installation, index));
  };
  auto [answer, description] = make();
  if (base::interrupted()) return data;
  data.index = answer.index;
  data.in_use = std::make_unique<CopiesInUse>(data.index.parent_path());
  if (!fs::exists(data.index))
    std::tie(answer, description) = make();  // removed by `make_dataset prune` before the lock
  data.validation = answer.validation;
  data.description = description;
  std::set<std::string> storages;
  for (const Row& row : rows) storages.insert(row.storage);
  for (const std::string& storage : storages) {
    if (base::interrupted()) return data;
    if (trait(values, "storage", storage, &Traits::packed, false))
      pack(installation, values, store, storage, data);
  }
  return data;
}

// Without links. None where it can't be listed.
static std::vector<fs::path> folders_in(const fs::path& place) try {
  std::vector<fs::path> found = base::entries_of(place);
  std::erase_if(
      found, [](const fs::path& one) { return fs::symlink_status(one).type() != fs::file_type::directory; });
  return found;
} catch (const std::runtime_error&) {
  return {};
}

// Prints the size of the folder with packed copies, which grows without limit.
static void say_store(const Installation& installation, const DataSets& sets) {
  const fs::path store = store_of(installation);
  base::Command remove{{installation.make_dataset, "prune", "--store", store}, {}, {}, {}, {}};
  std::set<std::string> own;
  for (const Data* set : {sets.plain.get(), sets.learnable.get()})
    if (const std::string& name = set->description.fingerprint; !name.empty() && own.insert(name).second)
      remove.arguments.insert(remove.arguments.end(), {"--keep", name});
  if (own.empty()) return;
  int64_t bytes = 0, of_others = 0;
  for (const fs::path& set : folders_in(store))
    for (const fs::path& copy : folders_in(set)) {
      const int64_t size = base::bytes_below(copy);
      bytes += size;
      if (!own.contains(set.filename())) of_others += size;
    }
  if (bytes == 0) return;
  base::say("run_matrix: {} holds {:.3f} GB of packed copies{}\n", store.string(), bytes / 1e9,
            of_others == 0
                ? ""
                : fmt::format(", of which {:.3f} GB are of other data sets; `{}` removes those that "
                              "no run uses",
                              of_others / 1e9, base::shell_line(remove)));
}

DataSets prepare_data(const Installation& installation, const Request& request, const Scale& scale,
                      const std::vector<Row>& rows, const AxisValues& values) {
  DataSets sets;
  if (!request.data.empty()) {
    sets.plain = sets.learnable =
        std::make_shared<Data>(prepare(installation, request, request.data, rows, values));
    say_store(installation, sets);
    return sets;
  }
  std::vector<Row> plain, learnable;
  for (const Row& row : rows) (row.validation ? learnable : plain).push_back(row);
  const auto make = [&](const std::vector<Row>& some, bool can_be_learned) {
    if (some.empty() || base::interrupted()) return std::make_shared<Data>();
    const fs::path root = stand_in(installation, request, images_needed(scale, some), can_be_learned);
    return base::interrupted() ? std::make_shared<Data>()
                               : std::make_shared<Data>(prepare(installation, request, root, some, values));
  };
  sets.plain = make(plain, false);
  sets.learnable = make(learnable, true);
  say_store(installation, sets);
  return sets;
}

NodeCopies::NodeCopies(const Installation& installation, const Data& data, const AxisValues& values,
                       OnEveryNode on_every_node)
    : on_every_node_(std::move(on_every_node)) {
  const fs::path store = store_of(installation);
  for (const auto& [storage, location] : data.packed) {
    if (location.empty() || !trait(values, "storage", storage, &Traits::transient, false)) continue;
    base::Command pack = on_every_node_(
        {installation.make_dataset, "pack", "--index", data.index, "--to", storage, "--store", store});
    if (pack.arguments.empty()) return;
    pack.errors_to_output = true;  // OpenMPI adds a page to the one line that tells why
    if (const base::Finished finished = base::run_to_end(pack); finished.exit_code != 0)
      throw PreparationError(fmt::format(
          "storage {} could not be prepared on every node: {}; the command was: {}", storage,
          finished.output.substr(0, finished.output.find_first_of("\r\n")), base::shell_line(pack)));
    locations_.insert(location);
  }
}

NodeCopies::~NodeCopies() {
  // On this machine, TransientCopy removes the copy when no run uses it.
  for (const std::string& location : locations_) try {
      base::run_to_end(
          on_every_node_({"sh", "-c", fmt::format("test -e {0}.in-use || rm -rf {0}", location)}));
    } catch (const std::exception&) {
    }
}

}  // namespace harness

// Reads and writes standin.json.
#include "bench/dataset/standin_record.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "harness/base/file.h"
#include "harness/base/json_text.h"

namespace bench {

std::optional<StandinRecord> read_standin_record(const std::filesystem::path& folder) {
  const auto file = folder / "standin.json";
  std::ifstream stream = base::open_regular(file);
  if (!stream) return std::nullopt;
  try {
    const auto json = base::require_json(std::string(std::istreambuf_iterator<char>(stream), {}));
    StandinRecord record;
    record.seed = json.at("seed");
    record.images = json.at("images");
    record.classes = json.at("classes");
    record.version = json.at("version");
    record.finished = json.at("finished");
    record.description = json.value("description", "");
    record.validation = json.value("validation", int64_t{0});
    return record;
  } catch (const std::exception& error) {
    // The folder may hold the user's own images, so the message must not suggest removing it.
    throw std::runtime_error(fmt::format(
        "{} is not a valid record of a stand-in ({}); if the images are your own, move this file elsewhere; "
        "otherwise make the stand-in again in another folder with `make_dataset standin --out DIR`",
        file.string(), error.what()));
  }
}

void write_standin_record(const std::filesystem::path& folder, const StandinRecord& record) {
  const nlohmann::ordered_json json{{"kind", "stand-in"},
                                    {"version", record.version},
                                    {"seed", record.seed},
                                    {"images", record.images},
                                    {"classes", record.classes},
                                    {"finished", record.finished},
                                    {"description", record.description},
                                    {"validation", record.validation}};
  base::write_whole_file(folder / "standin.json", json.dump(2) + "\n");
}

}  // namespace bench

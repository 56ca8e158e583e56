// Reads and writes standin.json.
#include "bench/dataset/standin_record.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "bench/dataset/write_file.h"

namespace bench {

std::optional<StandinRecord> read_standin_record(const std::filesystem::path& folder) {
  const auto file = folder / "standin.json";
  std::ifstream stream(file);
  if (!stream) return std::nullopt;
  try {
    const auto json = nlohmann::json::parse(stream);
    StandinRecord record;
    record.seed = json.at("seed");
    record.images = json.at("images");
    record.classes = json.at("classes");
    record.version = json.at("version");
    record.finished = json.at("finished");
    record.description = json.value("description", "");
    record.validation = json.value("validation", int64_t{0});
    return record;
  } catch (const nlohmann::json::exception& error) {
    throw std::runtime_error(fmt::format("{} is damaged ({}); remove {} and run make_dataset standin again",
                                         file.string(), error.what(), folder.string()));
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
  write_whole_file(folder / "standin.json", json.dump(2) + "\n");
}

}  // namespace bench

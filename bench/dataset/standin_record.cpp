// Reads and writes standin.json.
#include "bench/dataset/standin_record.h"

#include <fmt/format.h>

#include <fstream>
#include <stdexcept>

#include "harness/base/file.h"
#include "harness/base/json_text.h"

namespace bench {

std::optional<StandinRecord> read_standin_record(const std::filesystem::path& folder) {
  const auto file = folder / "standin.json";
  std::ifstream stream = base::open_regular(file);
  if (!stream) return std::nullopt;
  try {
    const std::string text(std::istreambuf_iterator<char>(stream), {});
    return harness::decode<StandinRecord>(base::require_json(text));
  } catch (const std::exception& error) {
    // The folder may hold the user's own images, so the message must not suggest removing it.
    throw std::runtime_error(fmt::format(
        "{} is not a valid record of a stand-in ({}); if the images are your own, move this file elsewhere; "
        "otherwise make the stand-in again in another folder with `make_dataset standin --out DIR`",
        file.string(), error.what()));
  }
}

void write_standin_record(const std::filesystem::path& folder, const StandinRecord& record) {
  base::write_whole_file(folder / "standin.json", harness::encode(record).dump(2) + "\n");
}

}  // namespace bench

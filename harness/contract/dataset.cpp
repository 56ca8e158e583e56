// Decodes the index's first line after checking its format version.
#include "harness/contract/dataset.h"

#include "harness/base/json_text.h"

namespace harness {

IndexHeader index_header(const std::string& line) {
  const nlohmann::json object = base::parse_json(line);
  require_version(object, "version", IndexHeader::kVersion, "the index of a data set");
  return decode<IndexHeader>(object);
}

}  // namespace harness

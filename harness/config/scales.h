// Scales: the sizes at which rows run.
#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/config/settings.h"
#include "harness/contract/record_parts.h"

namespace harness {

// Settings for the rows that have `field` = `value`.
struct When {
  std::string field, value;
  Settings set;
};

struct Scale {
  std::string name;
  int64_t batch_divisor = 1;
  int64_t c0 = 16;
  int64_t images = 160;       // size of a stand-in set; rows that must not read an image twice may need more
  int64_t most_runs = 1;      // runs of the matrix's `repeated` rows while there is time
  int64_t most_rounds = 1;    // runs of every row while there is time
  int64_t most_attempts = 1;  // runs of a row that others disturb
  std::string summary;        // one line, for the header of tables and plots
  std::string reasoning;      // why these sizes
  Settings set;
  std::vector<When> when;
  int64_t slowest_time_scale =
      0;  // `time_scale` is a power of two up to this, by this machine's speed; 0: the row's
  std::optional<double> decoded_images_per_s = {};  // measured, if it chose
};

std::vector<Scale> load_scales(const std::filesystem::path& file);

// Throws ConfigError with the nearest known name.
const Scale& find_scale(const std::vector<Scale>& scales, const std::string& name);

// By how much the row's batch was divided: 1 if the row keeps its own at every scale (`as_run: {batch:
// ...}`).
int64_t batch_divisor_of(const Row& row, const Scale& scale);

// Applies the scale's settings to a row; they replace the row's settings, except those in row.as_run.
void apply(const Scale& scale, Row& row, const AxisValues& values);

// `scale` of a row's record.
RecordScale record_of(const Row& row, const Scale& scale);

}  // namespace harness

// How much slower than real devices the emulated devices of a row run, so that this machine keeps up with
// them.
#pragma once
#include <optional>
#include <vector>

#include "harness/run/measure_row.h"

namespace harness {

// What a row at full size asks of the machine. `planned`: its record before it ran, see planned_record().
struct Demand {
  double images_per_s = 0;  // of the slowest of its devices, its emulated cores and its storage's set rate
  double core_s_per_image = 0;  // of this machine: decoding, and launching the device's work
};
Demand demand_of(const Record& planned, double decoded_images_per_s);

// Images of ImageNet's usual size that all cores decode in a second, measured in two seconds; nullopt when
// that fails.
std::optional<double> measure_decoding(const Installation& installation, const Row& row);

// What one core of a machine that can't be measured is taken to decode in a second.
inline constexpr double kCoreDecodes = 400;

// The smallest power of two up to `slowest` at which the demand leaves a margin of this machine's cores;
// `slowest` where none does.
int64_t time_scale_for(const Demand& demand, int64_t cores, int64_t slowest);

// Sets time_scale and expected_batch_s of the planned rows on emulated devices, for a scale with
// slowest_time_scale.
void choose_time_scales(const RowSetting& setting, std::vector<PlannedRow>& plan,
                        double decoded_images_per_s);

// Whether the machine kept up, as a check `cores` of the record: a row that waits for its loader although the
// loader's emulated limits allow more was held up by this machine. Nullopt for rows that don't emulate their
// cores.
std::optional<RecordCheck> check_of_cores(const Record& record);

}  // namespace harness

// Reads cores, memory and processor from a YAML file instead of from this machine.
#include "harness/config/machine_file.h"

#include "harness/config/yaml_file.h"

namespace harness {

constexpr int64_t kGib = int64_t(1) << 30;

RecordMachine read_machine(const std::filesystem::path& file) {
  RecordMachine machine;
  machine.cpu = "described in " + file.filename().string();
  machine.host = "described";
  const auto all = read_yaml(file, {"cores", "memory_gib", "cpu", "sixteen_bit_instructions"});
  for (const Entry& entry : all) {
    if (entry.key == "cores") machine.cores = whole_number(entry, 1, 65536);
    if (entry.key == "memory_gib") machine.memory_bytes = whole_number(entry, 1, 1 << 20) * kGib;
    if (entry.key == "cpu") machine.cpu = scalar(entry);
    if (entry.key == "sixteen_bit_instructions") machine.sixteen_bit_instructions = words(entry);
  }
  if (!machine.cores)
    throw ConfigError(all.empty() ? Origin{file.string()} : all[0].origin, "no cores",
                      "cores: 32, or another number", "", "state how many cores the rows may use");
  return machine;
}

}  // namespace harness

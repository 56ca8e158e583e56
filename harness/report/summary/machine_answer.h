// The answer of `run_matrix machine`, computed from the rows of configs/machine.yaml: what this machine's
// loader delivers, what its processor trains, and how many devices the loader feeds.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/report/summary/summary.h"

namespace harness {

// Images per second of a row, the median over its repeats.
struct MachineFigure {
  double images_per_s = 0;  // 0: not known
  std::string why_not;      // then why
};

struct FedDevices {
  std::string file;         // name of the device file
  double images_per_s = 0;  // that keep one device busy for kFedFrom of the time
  double fed = 0;           // devices; 0: not known
};

struct MachineAnswer {
  MachineFigure read;  // images read and not decoded, from a page cache that was proven cold
  MachineFigure decode_one, decode_all;
  MachineFigure step;  // training on the processor
  double kb_per_image = 0;
  int64_t cores = 0;               // of decode_all
  double loader_images_per_s = 0;  // the smaller of reading and decoding, as far as known; 0: not known
  std::string limit;               // the slower of disk and cores; empty: not known
  std::vector<FedDevices> devices;
};

// Nullopt for rows of another scale.
std::optional<MachineAnswer> machine_answer(const Summary& summary);

// `2.0 V100 (926 images/s each), 0.3 A100 (...); limit: cores`; empty where decoding wasn't measured.
std::string fed_text(const MachineAnswer& answer);
// The answer in one sentence, which also says what is not known.
std::string machine_sentence(const MachineAnswer& answer);
// That sentence, then each figure, as name and text.
Facts machine_facts(const MachineAnswer& answer);

}  // namespace harness

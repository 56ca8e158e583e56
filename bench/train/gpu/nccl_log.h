// Parses transports, algorithms and protocols from NCCL's log: INFO lines of NCCL 2.18 to 2.30. No CUDA and
// no Torch here.
#pragma once
#include <filesystem>
#include <istream>

#include "harness/contract/record_parts.h"

namespace bench {

struct NcclLog {
  harness::RankNccl facts;       // all but environment and asked_network; transports: "NET/Socket",
                                 // "NET/IB/GDRDMA", "P2P/CUMEM", "SHM/direct", ...
  bool without_network = false;  // NCCL could not open the network of NCCL_NET
};

// Ignores other lines and an incomplete last line. Read the log after the slice, because NCCL connects two
// ranks at the first collective that needs it. A missing file gives an empty log.
NcclLog read_nccl_log(std::istream& text);
NcclLog read_nccl_log(const std::filesystem::path& file);

// {"AllReduce 8388608 bytes": "Algo RING proto SIMPLE"} from the lines that NCCL 2.20 to 2.30 writes for
// every collective with NCCL_DEBUG_SUBSYS=TUNING. Before 2.24 they have numbers for names
// (src/include/nccl_common.h).
std::map<std::string, std::string> read_nccl_choices(std::istream& text);

}  // namespace bench

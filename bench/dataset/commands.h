// make_dataset's subcommands. Results go to stdout (index and pack print one line of JSON), notes and
// progress to stderr.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/dataset/prune.h"
#include "bench/dataset/scan.h"
#include "bench/dataset/standin.h"

namespace bench {

void run_standin(const StandinOptions& options);

// validation: also index the images of DIR/val, if that folder exists.
void run_index(const std::filesystem::path& data, const std::filesystem::path& store, bool validation,
               const ScanOptions& options);

// index: a file that run_index wrote. to: one of pack_destinations().
void run_pack(const std::filesystem::path& index, const std::string& to, const std::filesystem::path& store);
std::vector<std::string> pack_destinations();

void run_prune(const PruneRequest& request);

}  // namespace bench

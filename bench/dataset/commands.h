// make_dataset's subcommands. What a program reads goes to stdout (index and pack: one line of JSON), what a
// person reads beside it to stderr.
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

// validation: the images of DIR/val too, where that is.
void run_index(const std::filesystem::path& data, const std::filesystem::path& store, bool validation,
               Unreadable unreadable);

// index: a file that run_index wrote. to: one of pack_destinations(). limit: only the first images; 0: all.
void run_pack(const std::filesystem::path& index, const std::string& to, const std::filesystem::path& store,
              int64_t limit);
std::vector<std::string> pack_destinations();

void run_describe(const std::filesystem::path& data, Unreadable unreadable);
void run_prune(const PruneRequest& request);

}  // namespace bench

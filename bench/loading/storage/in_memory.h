// Keeps the images that a slice needs in the memory of this process.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/loading/storage/storage.h"

namespace bench {

// Reads the records (none: all) of the storage; the others, and those that can't be read now, are read from
// it when they are asked for. bytes_of: a record's size. Throws std::runtime_error where that needs more
// memory than is free; `instead`: what else the user can do.
std::unique_ptr<Storage> in_memory(const char* name, std::unique_ptr<Storage> storage,
                                   std::vector<int64_t> records,
                                   const std::function<size_t(int64_t record)>& bytes_of,
                                   const std::string& instead);

}  // namespace bench

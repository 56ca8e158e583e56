// Another program's loader in place of this suite's: row field `loader: external`.
// What is measured, and what is the same as of this suite's loader: docs/loaders.md. The process starts
// outside of the clock, when the loader is made; start() lets it make batches, and bytes in two pipes hand
// over the slots of a ring in shared memory. No bad image is replaced; LoaderStats::encoded_bytes counts the
// files in the list's order.
#pragma once
#include <memory>

#include "bench/loading/loader/loader.h"

namespace bench {

// Starts the program and waits until it is ready. The storage must read the files of a data set. Throws
// BadDataset if the adapter delivers what isn't a batch of the row, ends before the slice does or prepares
// nothing usable; LoaderHangs; std::runtime_error if the program can't be started, fails or dies. next()
// throws the same. The destructor ends the program and all processes that it has started.
std::unique_ptr<Loader> make_external_loader(Storage& storage, const LoaderOptions& options);

}  // namespace bench

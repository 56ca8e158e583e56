// Another program's loader in place of this suite's: row field `loader: external`.
//
// bench/loading/external/ring.py runs an adapter and copies each batch once, into a ring in shared memory
// (memfd) of which next() returns a slot; bytes in two pipes hand slots over. What is the same as of this
// suite's loader, so that the two can be compared in one row:
//
// - Clock: the process starts, imports and prepares when the loader is made, outside of the clock. start()
//   lets it make batches; waiting in next() is the row's wait for data.
// - Cores: the process inherits the affinity of the rank and is told the rank's share of the loader threads.
// - Ahead: `ring_depth` batches; the adapter's own loader may be further ahead.
// - Images: a list in the order of the row's sampler, with the crop boxes and flips that this suite would
//   draw. Records that are no usual JPEG files (size_if_usual()) are replaced by the next one that is.
// - Labels: each must lie in [0, classes). Those that differ from the list's are counted.
// - Pixels: of the first eight batches, eight images each are kept and compared afterwards, by compare().
//
// What differs: no bad image is replaced, and LoaderStats::encoded_bytes counts the files in the list's
// order.
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

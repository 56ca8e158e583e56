// The loader of the synthetic storage: no threads, no reading, the same batches over and over.
#pragma once
#include <memory>

#include "bench/loading/loader/loader.h"

namespace bench {

std::unique_ptr<Loader> make_fixed_batches(const LoaderOptions& options);

}  // namespace bench

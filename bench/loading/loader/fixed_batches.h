// The loader of the synthetic storage: no threads and no reading; next() cycles through the same batches.
#pragma once
#include <memory>

#include "bench/loading/loader/loader.h"

namespace bench {

std::unique_ptr<Loader> make_fixed_batches(const LoaderOptions& options);

}  // namespace bench

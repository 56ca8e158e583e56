// The MPI datatype of a tensor and the MPI operation that sums it.
#pragma once
#include <ATen/core/Tensor.h>
#include <mpi.h>

namespace bench {

struct Wire {
  MPI_Datatype type;
  MPI_Op sum;
};

// Throws std::invalid_argument for an unsupported type.
Wire wire_of(const at::Tensor& tensor);

}  // namespace bench

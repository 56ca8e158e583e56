// How a tensor's numbers are called in MPI, and how MPI adds them.
#pragma once
#include <ATen/core/Tensor.h>
#include <mpi.h>

namespace bench {

struct Wire {
  MPI_Datatype type;
  MPI_Op sum;
};

// Throws std::invalid_argument for a type that isn't carried.
Wire wire_of(const at::Tensor& tensor);

}  // namespace bench

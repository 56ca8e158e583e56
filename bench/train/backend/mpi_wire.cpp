// Maps LibTorch's number types to MPI's, with sums of its own for the 16-bit floats that MPI lacks.
#ifdef HAVE_MPI
#include "bench/train/backend/mpi_wire.h"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>

#include <stdexcept>

#include "bench/train/backend/mpi_backend.h"

namespace bench {
namespace {

// MPI has no 16-bit floating-point types: they are sent as 16-bit integers and summed by LibTorch's kernels.
template <at::ScalarType type>
void add_sixteen_bit(void* in, void* in_out, int* count, MPI_Datatype*) {
  at::from_blob(in_out, {*count}, at::TensorOptions(type))
      .add_(at::from_blob(in, {*count}, at::TensorOptions(type)));
}

// The MPI_Op is created at first use and never freed.
template <at::ScalarType type>
Wire sixteen_bit_wire() {
  static const MPI_Op sum = [] {
    MPI_Op made;
    check_mpi(MPI_Op_create(add_sixteen_bit<type>, /*commute=*/1, &made), "MPI_Op_create");
    return made;
  }();
  return {MPI_UINT16_T, sum};
}

}  // namespace

Wire wire_of(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return {MPI_FLOAT, MPI_SUM};
    case at::kDouble:
      return {MPI_DOUBLE, MPI_SUM};
    case at::kLong:
      return {MPI_INT64_T, MPI_SUM};
    case at::kInt:
      return {MPI_INT32_T, MPI_SUM};
    case at::kByte:
      return {MPI_UINT8_T, MPI_SUM};
    case at::kBFloat16:
      return sixteen_bit_wire<at::kBFloat16>();
    case at::kHalf:
      return sixteen_bit_wire<at::kHalf>();
    default:
      throw std::invalid_argument(
          fmt::format("backend mpi doesn't support tensors of type {}", toString(tensor.scalar_type())));
  }
}

}  // namespace bench
#endif

// Changes that the command line makes to a matrix: selected rows, single fields, number of devices.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/config/config.h"

namespace harness {

// `--only 7,12,lmdb`: ids and aliases, each row once and in the order of the matrix; empty: all rows.
std::vector<Row> select(const std::vector<Matrix>& matrices, const std::string& only);

// `--set key=value`: sets fields of all rows; values are not scaled. Checks every row again.
void set_fields(std::vector<Row>& rows, const std::vector<std::string>& assignments, const Scale& scale,
                const AxisValues& values);

using NotesByRow = std::map<std::string, std::vector<std::string>>;  // by the row's id

// Rows get the backend that joins their kind of device (its trait `device`). On GPUs this is nccl instead of
// mpi or gloo, which go through host memory; with `oversubscribe` gloo, because NCCL refuses ranks that share
// a GPU; Horovod keeps its backend.
NotesByRow choose_backends(std::vector<Row>& rows, bool oversubscribe, const AxisValues& values);

// `--devices N`: the rows with the most devices get N, rows with fewer a proportional number, at least 2.
// Returns what was changed, and which rows became equal.
NotesByRow rederive_for_devices(std::vector<Row>& rows, int64_t devices, const AxisValues& values);

}  // namespace harness

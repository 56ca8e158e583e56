// What the command line changes about a matrix: which rows run, single fields, and how many devices there
// are.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "harness/config/config.h"

namespace harness {

// `--only 7,12,lmdb`: ids and aliases, each row once and in the order of the matrix; empty: all rows.
std::vector<Row> select(const std::vector<Matrix>& matrices, const std::string& only);

// `--set key=value`, as run and not scaled; checks every row again.
void set_fields(std::vector<Row>& rows, const std::vector<std::string>& assignments, const Scale& scale,
                const AxisValues& values);

// `--devices N`: the rows with the most devices get N, those with fewer a proportional number, at least 2.
// Returns notes by id of the row: what was changed, and which row another has become.
// Rows on GPUs whose ranks the matrix joins through host memory (mpi, gloo) take NCCL, or gloo where ranks
// share a GPU, which NCCL refuses. Horovod's negotiation stays where it is. Returns notes by row id.
std::map<std::string, std::vector<std::string>> choose_backends(std::vector<Row>& rows, bool oversubscribe,
                                                                const AxisValues& values);

std::map<std::string, std::vector<std::string>> rederive_for_devices(std::vector<Row>& rows, int64_t devices,
                                                                     const AxisValues& values);

}  // namespace harness

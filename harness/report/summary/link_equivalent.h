// Which real link an emulated one stands for.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "harness/contract/record.h"

namespace harness {

struct Summary;

// Rate in Mbit/s of the link that would take the same share of a step on the article's hardware: the ratio of
// all-reduce to computing is equal there and here. With as many ranks in the ring, an all-reduce takes bytes
// / rate, so
//   rate there = rate here * (gradient bytes there / here) * (computing here / there).
// Here: the record's all-reduced bytes, and forward + backward of its ceiling `compute`, on these cores.
// There: 11,689,512 gradients of ResNet18, two bytes each under O2 and O3, else four; forward and backward
// kernels of 231.8 ms for 256 images (row tmpfs, 67.5 + 164.3), times the images of one GPU; with a 16-bit
// precision times 70.1 / 87.989, the article's totals with and without (whether of O1 or O2 it doesn't say).
// nullopt: the link isn't shaped here, devices don't compute, another model, or the record lacks a figure.
std::optional<double> real_link_mbit(const Record& record);

// `17: 200 Mbit/s stand for a link of about 1.8 Gbit/s on the article's GPUs`, for each such row.
std::vector<std::string> link_equivalents(const Summary& summary);

}  // namespace harness

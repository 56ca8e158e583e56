// JPEG files decoded by nvJPEG, started by the loader's threads: `decoder: nvjpeg`.
//
// A thread gives its image to a stream of its own and sleeps until the crop lies in the batch, which is in
// the GPU's memory; so the span `decode` is the whole of that, waiting for the GPU included, and phase h2d a
// copy within the GPU (labels apart). Beside the decoding of other threads runs the training, on the same
// GPU.
//
// What the GPU refuses (PNG, CMYK, files without an end, what nvJPEG finds wrong) the CPU's decoder decodes
// in the thread, so that damaged files are told of in the same words; damage that nvJPEG doesn't notice it
// decodes.
#pragma once
#include <string>

#include "bench/loading/loader/device_decoding.h"

namespace bench {

// Who decodes the Huffman codes of baseline files; the CPU always does those of progressive ones. They are
// most of an image's work, and rows are to show what a GPU can take off the CPU, so it does them. NVIDIA's
// DALI gives it files from a megapixel on: the micro-benchmarks decode/nvjpeg and
// decode/nvjpeg/huffman_on_cpu compare. (The H100's own JPEG engine decodes batches in one call and fits no
// loader that fills batches image by image.)
enum class Huffman { gpu, cpu };

// Of the GPU with this number. Loaders of several calls are independent of each other.
DeviceDecoding decode_with_nvjpeg(int gpu, Huffman huffman = Huffman::gpu);

bool has_nvjpeg();  // this build; without it the other two mustn't be called
std::string nvjpeg_version();

}  // namespace bench

// The audit: what the article's stated figures say of one another. Every result is computed from them here.
#include <fmt/format.h>

#include "harness/report/claims.h"

namespace harness {
namespace {

// Seconds per 300 batches, ms within batch 122 at batch 256, as the article states them.
constexpr double kBatches = 300;
constexpr double kDisk = 336.524, kTmpfs = 87.989, kO1orO2 = 70.1;
constexpr double kRow0 = 161.0, kRow7 = 81.7, kRow10 = 60.2, kRow12 = 41.6, kRow16 = 38.8, kRow18 = 22.1;
constexpr double kH2dBytes = 154140672, kH2dDisk = 13.6, kH2dTmpfs = 15.4;
constexpr double kForward = 67.3, kBackward = 164.7, kStep = 1.8;  // kernels, from disk
constexpr double kForwardTmpfs = 67.5, kBackwardTmpfs = 164.3, kStepTmpfs = 1.9;
constexpr double kBackwardLaunch = 19.9, kBackwardLaunchTmpfs = 16.6;
constexpr double kStepLaunch = 8.0, kStepLaunchTmpfs = 5.5;
constexpr double kKernels = kForward + kBackward + kStep;
constexpr double kKernelsTmpfs = kForwardTmpfs + kBackwardTmpfs + kStepTmpfs;
constexpr double kScatterShare = 0.20;  // "nearly 20 %"
constexpr double kPixels = 224.0 * 224 * 3, kFloat = 4;

// Not the article's: images of ImageNet's training set.
constexpr double kImageNetImages = 1281167, kTmpfsBytes = 160e9;

double seconds(double ms_per_batch) { return kBatches * ms_per_batch / 1000; }
double ms(double row_seconds) { return 1000 * row_seconds / kBatches; }

using Line = std::vector<std::string>;

Line kernel_share() {
  return {"From disk, kernels take \"about a quarter\" of the time",
          fmt::format("300 x {:.1f} ms = {:.1f} s; / {} s = {:.0f} %", kKernels, seconds(kKernels), kDisk,
                      100 * seconds(kKernels) / kDisk),
          "a fifth"};
}

Line half_precision_is_kernel_time() {
  return {
      fmt::format("O1 or O2 take {} s", kO1orO2),
      fmt::format("kernels of O0: 300 x {:.1f} ms = {:.1f} s", kKernels, seconds(kKernels)),
      "the same figure: it may be O0's kernel time and no run in 16 bits; which of O1 and O2 it is of is not "
      "said either"};
}

Line arrows() {
  const auto change = [](double before, double after) {
    return fmt::format("{:.1f} to {:.1f} ms ({:+.1f} %)", before, after, 100 * (after / before - 1));
  };
  return {"On tmpfs, backward and SGD carry up arrows",
          fmt::format("backward launch {}, its kernels {}, SGD launch {}",
                      change(kBackwardLaunch, kBackwardLaunchTmpfs), change(kBackward, kBackwardTmpfs),
                      change(kStepLaunch, kStepLaunchTmpfs)),
          "all three went down"};
}

Line loading_share() {
  return {"From disk, three quarters of the time is loading; tmpfs removes it",
          fmt::format("1 - {} / {} = {:.0f} %; ratio {:.2f}", kTmpfs, kDisk, 100 * (1 - kTmpfs / kDisk),
                      kDisk / kTmpfs),
          "agrees"};
}

Line tmpfs_remainder() {
  const double known = kH2dTmpfs + kKernelsTmpfs;
  return {
      "On tmpfs nothing is left of the loading",
      fmt::format("{:.0f} ms a batch - H2D {} ms - kernels {:.1f} ms = {:.0f} ms, {:.0f} % of the batch",
                  ms(kTmpfs), kH2dTmpfs, kKernelsTmpfs, ms(kTmpfs) - known, 100 * (1 - known / ms(kTmpfs))),
      "what the rest is, loading or host time between kernels, is not said"};
}

Line copies() {
  return {fmt::format("H2D copies {:.0f} bytes in {} ms, on tmpfs in {} ms", kH2dBytes, kH2dDisk, kH2dTmpfs),
          fmt::format("256 x 224 x 224 x 3 x 4 = {:.0f} bytes; {:.1f} and {:.1f} GB/s",
                      256 * kPixels * kFloat, kH2dBytes / kH2dDisk / 1e6, kH2dBytes / kH2dTmpfs / 1e6),
          fmt::format(
              "a float32 batch over PCIe 3 x16: plausible; why it takes {:.0f} % longer on tmpfs is not said",
              100 * (kH2dTmpfs / kH2dDisk - 1))};
}

Line scatter() {
  const double bytes = 512 * kPixels * kFloat * 3 / 4, whole = kScatterShare * ms(kRow7);
  return {
      "[7]: scatter is \"nearly 20 %\"",
      fmt::format(
          "if of the batch: {:.0f} % of {:.0f} ms = {:.0f} ms for {:.0f} MB to three devices, {:.1f} GB/s",
          100 * kScatterShare, ms(kRow7), whole, bytes / 1e6, bytes / whole / 1e6),
      "of what is not said; of the batch it would be slower than H2D"};
}

Line batch_size_gain() {
  return {fmt::format("[0] takes {} s at batch 512, tmpfs {} s at 256", kRow0, kTmpfs),
          fmt::format("2 x {} = {:.1f} s for as many images; {:.1f} % less", kTmpfs, 2 * kTmpfs,
                      100 * (1 - kRow0 / (2 * kTmpfs))),
          "tmpfs was timed from its first batch on, [0] from batch 100: batch size and start-up can't be "
          "told apart"};
}

Line cascade() {
  const double threads = kRow7 / kRow10, precision = kRow12 / kRow16, all = kRow0 / kRow18;
  return {
      "Eight GPUs: [0] / [18]",
      fmt::format(
          "{:.2f} x {:.2f} x {:.2f} x {:.2f} x {:.2f} = {:.2f}; without threads ({:.2f}) and O2 ({:.2f}): "
          "{:.1f}",
          kRow0 / kRow7, threads, kRow10 / kRow12, precision, kRow16 / kRow18, all, threads, precision,
          all / threads / precision),
      "[0] had neither the threads nor O2, so the devices' own share is the smaller figure"};
}

Line two_nodes() {
  const double gain = kRow16 / kRow18;
  return {
      fmt::format("[16] takes {} s, [18] on two nodes {} s", kRow16, kRow18),
      fmt::format(
          "{:.2f}, {:.0f} % of twice; with 128 images per GPU as before it would be {:.2f} on twice the GPUs",
          gain, 100 * gain / 2, 2 * gain),
      "batch and precision of [18] are not stated; only a total batch of 512 is possible"};
}

Line third_off() {
  return {"DDP takes about a third off DP",
          fmt::format("1 - {} / {} = {:.0f} %; ratio {:.2f}", kRow12, kRow10, 100 * (1 - kRow12 / kRow10),
                      kRow10 / kRow12),
          "agrees"};
}

Line utilisation() {
  const double kernels = kKernels / 2;  // 128 of 512 images on each of four devices
  return {
      "Kernel utilisation of [12] is far above that of [7]",
      fmt::format("{:.0f} ms for 128 images / {:.0f} ms = {:.0f} %, / {:.0f} ms = {:.0f} %", kernels,
                  ms(kRow7), 100 * kernels / ms(kRow7), ms(kRow12), 100 * kernels / ms(kRow12)),
      fmt::format(
          "with equal kernels it is the ratio of the times, {:.2f}, told again; and [12] had more threads",
          kRow7 / kRow12)};
}

Line threads() {
  return {fmt::format("More threads take [7] from {} to {} s", kRow7, kRow10),
          fmt::format("ratio {:.2f}", kRow7 / kRow10),
          "the levels of cores and loader threads are not stated; 1.5, 2, 3 and 4 C0 are inferred"};
}

Line imagenet() {
  const double images = 256 * kBatches / kDisk, bytes = kTmpfsBytes / kImageNetImages;
  return {"160 GB of tmpfs hold ImageNet",
          fmt::format(
              "160 GB / {:.0f} = {:.0f} KB an image at most; from disk {:.0f} images/s, {:.0f} MB/s at most",
              kImageNetImages, bytes / 1e3, images, images * bytes / 1e6),
          "plausible, and the disk was a slow one"};
}

Line lmdb() {
  return {"LMDB in order is \"very fast\", shuffled it \"actually becomes slower\"", "no figure for either",
          "slower than what, files or LMDB in order, is not said"};
}

Line ethernet() {
  return {"InfiniBand beats Ethernet on two nodes", fmt::format("[18] {} s; [17] no figure", kRow18),
          "by how much is not said, nor at what rate of Ethernet"};
}

Line windows() {
  return {"Rows are set side by side over one cascade",
          "disk to O3: batches 0-299; [0] to [7]: batches 100-399",
          "the first window has the start-up in it; from [8] on none is stated"};
}

}  // namespace

Grid audit_grid() {
  Grid grid;
  grid.title = "the article's figures against one another";
  grid.columns = {{"the article", true, false, 34}, {"arithmetic", true, false, 44}, {"so", true, false, 40}};
  grid.rows = {kernel_share(),    half_precision_is_kernel_time(),
               arrows(),          loading_share(),
               tmpfs_remainder(), copies(),
               scatter(),         lmdb(),
               threads(),         third_off(),
               utilisation(),     batch_size_gain(),
               cascade(),         two_nodes(),
               ethernet(),        windows(),
               imagenet()};
  grid.notes = {"From its stated figures alone; nothing here was measured by this suite."};
  return grid;
}

}  // namespace harness

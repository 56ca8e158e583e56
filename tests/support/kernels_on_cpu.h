// Runs CUDA kernels that are written in C++ alone by threads of the CPU, one per CUDA thread, a block at a
// time. Include it before the kernels.
#pragma once
#include <barrier>
#include <cmath>
#include <functional>
#include <thread>
#include <vector>

#define __global__
#define __device__
#define __shared__ static
#define __syncthreads() block_barrier->arrive_and_wait()

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
};
struct uint2 {
  unsigned x, y;
};
inline thread_local dim3 gridDim, blockDim, blockIdx, threadIdx;
inline std::barrier<>* block_barrier = nullptr;
using std::fabs, std::fmaf, std::fmaxf, std::rintf;

inline void run_on_cpu(dim3 grid, dim3 block, const std::function<void()>& kernel) {
  for (unsigned by = 0; by < grid.y; ++by)
    for (unsigned bx = 0; bx < grid.x; ++bx) {
      std::barrier<> barrier(block.x * block.y);
      block_barrier = &barrier;
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < block.x * block.y; ++i)
        threads.emplace_back([&, i] {
          gridDim = grid, blockDim = block, blockIdx = {bx, by, 0}, threadIdx = {i % block.x, i / block.x, 0};
          kernel();
          barrier.arrive_and_drop();
        });
    }
}

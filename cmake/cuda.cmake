# The CUDA parts of bench/, for the separate program train_slice_cuda: in train_slice they would cost every rank on a
# CPU 0.1 s and 230 MB. Needs the toolkit's compiler and headers, but no GPU. find_package(Torch) is not used: see
# libtorch.cmake.
find_program(NVCC nvcc HINTS ENV CUDA_HOME PATHS /usr/local/cuda PATH_SUFFIXES bin)
option(BUILD_CUDA "train_slice_cuda, for NVIDIA GPUs" "${NVCC}")
if(NOT BUILD_CUDA)
  return()
endif()
if(NOT CMAKE_CUDA_COMPILER AND NVCC)
  set(CMAKE_CUDA_COMPILER ${NVCC})
endif()
if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75 80 90)  # with PTX, which newer GPUs compile at their first start
endif()
set(CMAKE_CUDA_STANDARD 17)  # the newest that CMake 3.25 supports for nvcc
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)    # NVIDIA's own: runtime, copies, events
find_library(TORCH_CUDA_LIBRARY torch_cuda HINTS ${TORCH_LIBRARY_DIR} NO_DEFAULT_PATH)
find_library(C10_CUDA_LIBRARY c10_cuda HINTS ${TORCH_LIBRARY_DIR} NO_DEFAULT_PATH)
file(GLOB wheels ${TORCH_LIBRARY_DIR}/../../nvidia)  # beside torch's own, in whatever environment it is
find_path(NCCL_INCLUDE nccl.h         # NCCL: NVIDIA's collectives, used by PyTorch's DDP on GPUs
          HINTS ${CUDAToolkit_INCLUDE_DIRS} ${wheels}/nccl/include)
find_library(NCCL_LIBRARY NAMES nccl libnccl.so.2 HINTS ${CUDAToolkit_LIBRARY_DIR} ${wheels}/nccl/lib)
find_path(NVJPEG_INCLUDE nvjpeg.h     # nvJPEG: NVIDIA's JPEG decoder on GPUs, used by DALI and torchvision; optional
          HINTS ${CUDAToolkit_INCLUDE_DIRS} ${wheels}/cu13/include)
find_library(NVJPEG_LIBRARY NAMES nvjpeg libnvjpeg.so.13 HINTS ${CUDAToolkit_LIBRARY_DIR} ${wheels}/cu13/lib)
foreach(needed TORCH_CUDA_LIBRARY C10_CUDA_LIBRARY NCCL_INCLUDE NCCL_LIBRARY)
  if(NOT ${needed})
    message(FATAL_ERROR "CUDA was found (${NVCC}), but not ${needed}: name a LibTorch that was built for CUDA with "
                        "-DCMAKE_PREFIX_PATH=DIR, install NCCL's headers, or leave CUDA out with -DBUILD_CUDA=OFF.")
  endif()
endforeach()
# The libraries of libtorch_cuda are found through its own DT_RPATH (wheels), then through the program's: the toolkit's
# folder. A machine without a GPU lacks the driver, which is only loaded at the first call.
add_library(libtorch_cuda INTERFACE)
target_include_directories(libtorch_cuda SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS} ${NCCL_INCLUDE})
target_link_libraries(libtorch_cuda INTERFACE libtorch ${C10_CUDA_LIBRARY} -Wl,--no-as-needed ${TORCH_CUDA_LIBRARY}
                                              -Wl,--as-needed CUDA::cudart)
target_link_options(libtorch_cuda INTERFACE $<$<NOT:$<BOOL:${BUNDLE}>>:-Wl,-rpath,${CUDAToolkit_LIBRARY_DIR}>
                                            -Wl,-rpath-link,${CUDAToolkit_LIBRARY_DIR} -Wl,--allow-shlib-undefined)
if(NVJPEG_INCLUDE AND NVJPEG_LIBRARY)
  add_library(nvjpeg INTERFACE)
  target_include_directories(nvjpeg SYSTEM INTERFACE ${NVJPEG_INCLUDE})
  target_link_libraries(nvjpeg INTERFACE ${NVJPEG_LIBRARY})
  message(STATUS "nvJPEG: ${NVJPEG_LIBRARY}")
else()
  message(STATUS "nvJPEG was not found: rows with decoder nvjpeg will be skipped")
endif()
message(STATUS "CUDA ${CUDAToolkit_VERSION}: ${CMAKE_CUDA_COMPILER}, for compute capability ${CMAKE_CUDA_ARCHITECTURES}")

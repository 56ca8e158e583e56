# LibTorch as hand-made targets: find_package(Torch) on a CUDA wheel requires a CUDA toolkit, but a machine without a
# GPU needs only c10 and torch_cpu. A LibTorch in CMAKE_PREFIX_PATH takes precedence over the project's wheel.
file(GLOB wheel_prefix ${CMAKE_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch)
find_library(TORCH_CPU_LIBRARY torch_cpu HINTS ${wheel_prefix} PATH_SUFFIXES lib)
find_path(TORCH_INCLUDE ATen/ATen.h HINTS ${wheel_prefix} PATH_SUFFIXES include)
if(NOT TORCH_CPU_LIBRARY OR NOT TORCH_INCLUDE)
  message(FATAL_ERROR "LibTorch was not found. ./run_matrix installs the PyPI wheel into .venv; or name another with "
                      "-DCMAKE_PREFIX_PATH=DIR (the folder with lib/libtorch_cpu.so), or -DBUILD_TRAINING=OFF.")
endif()
get_filename_component(TORCH_LIBRARY_DIR ${TORCH_CPU_LIBRARY} DIRECTORY)
find_library(C10_LIBRARY c10 HINTS ${TORCH_LIBRARY_DIR} NO_DEFAULT_PATH REQUIRED)
file(GLOB torch_version_headers ${TORCH_INCLUDE}/torch/headeronly/version.h
     ${TORCH_INCLUDE}/torch/csrc/api/include/torch/version.h)
foreach(header ${torch_version_headers})
  file(STRINGS ${header} lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
  foreach(line ${lines})
    string(REGEX REPLACE ".* ([0-9]+)$" "\\1" number "${line}")
    list(APPEND torch_numbers ${number})
  endforeach()
endforeach()
list(SUBLIST torch_numbers 0 3 torch_numbers)
list(JOIN torch_numbers "." TORCH_VERSION)
message(STATUS "LibTorch ${TORCH_VERSION}: ${TORCH_CPU_LIBRARY}")

add_library(libtorch INTERFACE)
target_include_directories(libtorch SYSTEM INTERFACE ${TORCH_INCLUDE} ${TORCH_INCLUDE}/torch/csrc/api/include)
target_link_libraries(libtorch INTERFACE ${TORCH_CPU_LIBRARY} ${C10_LIBRARY})
# DT_RPATH instead of RUNPATH, because it also applies to the libraries that libtorch_cpu needs.
target_link_options(libtorch INTERFACE -Wl,--disable-new-dtags)
set_target_properties(libtorch PROPERTIES INTERFACE_LINK_DIRECTORIES ${TORCH_LIBRARY_DIR})

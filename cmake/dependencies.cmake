# Every library that others keep for us, with the reason it was chosen.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)  # records: the de-facto JSON library of C++, kept since 2013, in every distribution
find_package(fmt REQUIRED)            # text: GCC 12 has no <format>, and fmt is where it came from
find_package(CLI11 REQUIRED)          # command line: subcommands and checked options in one header, active upstream
find_package(yaml-cpp REQUIRED)       # matrices: keeps line numbers for error messages; YAML is the field's habit
if(NOT TARGET yaml-cpp::yaml-cpp)     # packages before 0.8 export the plain name
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(JPEG REQUIRED)           # libjpeg-turbo: what Pillow and torchvision decode with; can decode just a crop
find_package(PNG REQUIRED)            # libpng: one ImageNet file is a PNG called .JPEG
find_library(LMDB_LIBRARY lmdb REQUIRED)      # OpenLDAP's LMDB: the article's database, maintained since 2011
find_package(hwy REQUIRED)            # Highway: vector code once for x86, Arm and the rest, chosen at run time; used by Chrome and libjxl
find_path(LMDB_INCLUDE lmdb.h REQUIRED)
add_library(lmdb INTERFACE)
target_link_libraries(lmdb INTERFACE ${LMDB_LIBRARY})
target_include_directories(lmdb INTERFACE ${LMDB_INCLUDE})
find_library(XXHASH_LIBRARY xxhash REQUIRED)  # data fingerprints: stable across machines, as fast as memory
add_library(xxhash INTERFACE)
target_link_libraries(xxhash INTERFACE ${XXHASH_LIBRARY})
if(BUILD_TRAINING)
  include(cmake/libtorch.cmake)
  set(MPI_CXX_SKIP_MPICXX ON)          # the C++ bindings are gone from the standard and don't link
  find_package(MPI COMPONENTS C)      # OpenMPI: the collectives that the article's Horovod ran on; mpirun and Slurm know it
  find_package(benchmark QUIET)       # Google Benchmark: micro-benchmarks with a JSON that other tools read
endif()
if(BUILD_TESTING)
  find_package(GTest REQUIRED)        # GoogleTest: the field's habit, CTest discovery included
endif()

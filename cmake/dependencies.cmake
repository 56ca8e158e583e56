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
find_package(ZLIB REQUIRED)           # zlib: the records inside report.html, as every browser unpacks them; libpng brings it anyway
find_package(hwy REQUIRED)            # Highway: vector code once for x86, Arm and the rest, chosen at run time; used by Chrome and libjxl
find_library(LMDB_LIBRARY lmdb REQUIRED)      # OpenLDAP's LMDB: the article's database, maintained since 2011
find_path(LMDB_INCLUDE lmdb.h REQUIRED)
add_library(lmdb INTERFACE)
target_link_libraries(lmdb INTERFACE ${LMDB_LIBRARY})
target_include_directories(lmdb INTERFACE ${LMDB_INCLUDE})
find_library(XXHASH_LIBRARY xxhash REQUIRED)  # data fingerprints: stable across machines, as fast as memory
add_library(xxhash INTERFACE)
target_link_libraries(xxhash INTERFACE ${XXHASH_LIBRARY})
find_library(ISAL_LIBRARY isal)       # Intel's ISA-L: crc32c at memory speed, instructions chosen at run time
find_path(ISAL_INCLUDE isa-l/crc.h)
find_package(Protobuf QUIET)          # Google's own: the tf.train.Example in a TFRecord, its image found in place
if(ISAL_LIBRARY AND ISAL_INCLUDE AND TARGET protobuf::libprotobuf-lite)
  add_library(tfrecord INTERFACE)
  target_link_libraries(tfrecord INTERFACE ${ISAL_LIBRARY} protobuf::libprotobuf-lite)
  target_include_directories(tfrecord INTERFACE ${ISAL_INCLUDE})
  target_compile_definitions(tfrecord INTERFACE HAVE_TFRECORD)
endif()
find_package(CURL QUIET)              # libcurl: the HTTP client of most of the world; keeps connections, bounds every wait
find_package(HDF5 QUIET COMPONENTS C)  # The HDF Group's own, and the only complete one; C, for its C++ API adds nothing here
if(HDF5_FOUND)
  add_library(hdf5 INTERFACE)
  target_link_libraries(hdf5 INTERFACE ${HDF5_C_LIBRARIES})
  target_include_directories(hdf5 INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_compile_definitions(hdf5 INTERFACE HAVE_HDF5)
endif()
include(cmake/arrow.cmake)            # Apache Arrow: the library that defines the formats of storages arrow and parquet
if(BUILD_TRAINING)
  include(cmake/libtorch.cmake)
  include(cmake/cuda.cmake)
  set(MPI_CXX_SKIP_MPICXX ON)          # the C++ bindings are gone from the standard and don't link
  find_package(MPI COMPONENTS C)      # OpenMPI: the collectives that the article's Horovod ran on; mpirun and Slurm know it
  find_package(benchmark QUIET)       # Google Benchmark: micro-benchmarks with a JSON that other tools read
endif()
if(BUILD_TESTING)
  find_package(GTest REQUIRED)        # GoogleTest: the field's habit, CTest discovery included
endif()

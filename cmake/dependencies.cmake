# All external libraries, with the reason for choosing each.
find_package(Threads REQUIRED)
find_package(nlohmann_json REQUIRED)  # records: the de-facto JSON library of C++, maintained since 2013, in every distribution
find_package(fmt REQUIRED)            # text: GCC 12 has no <format>, which is based on fmt
find_package(CLI11 REQUIRED)          # command line: subcommands and checked options in one header, active upstream
find_package(yaml-cpp REQUIRED)       # matrices: has line numbers for error messages; YAML is usual in machine learning
if(NOT TARGET yaml-cpp::yaml-cpp)     # packages before 0.8 export the plain name
  add_library(yaml-cpp::yaml-cpp ALIAS yaml-cpp)
endif()
find_package(JPEG REQUIRED)           # libjpeg-turbo: the decoder of Pillow and torchvision; can decode only a crop
find_package(PNG REQUIRED)            # libpng: one ImageNet file is a PNG called .JPEG
find_package(ZLIB REQUIRED)           # zlib: compresses the records inside report.html, every browser can unpack them; libpng needs it anyway
find_package(hwy REQUIRED)            # Highway: portable vector code for x86, Arm and others, chosen at run time; used by Chrome and libjxl
find_library(LMDB_LIBRARY lmdb REQUIRED)      # OpenLDAP's LMDB: the article's database, maintained since 2011
find_path(LMDB_INCLUDE lmdb.h REQUIRED)
add_library(lmdb INTERFACE)
target_link_libraries(lmdb INTERFACE ${LMDB_LIBRARY})
target_include_directories(lmdb INTERFACE ${LMDB_INCLUDE})
find_library(XXHASH_LIBRARY xxhash REQUIRED)  # data fingerprints: equal on all machines, as fast as memory
add_library(xxhash INTERFACE)
target_link_libraries(xxhash INTERFACE ${XXHASH_LIBRARY})
find_library(ISAL_LIBRARY isal)       # Intel's ISA-L: crc32c at memory speed, instructions chosen at run time
find_path(ISAL_INCLUDE isa-l/crc.h)
find_package(Protobuf QUIET)          # Google's library: parses the tf.train.Example in a TFRecord; its image is used in place
if(ISAL_LIBRARY AND ISAL_INCLUDE AND TARGET protobuf::libprotobuf-lite)
  add_library(tfrecord INTERFACE)
  target_link_libraries(tfrecord INTERFACE ${ISAL_LIBRARY} protobuf::libprotobuf-lite)
  target_include_directories(tfrecord INTERFACE ${ISAL_INCLUDE})
  target_compile_definitions(tfrecord INTERFACE HAVE_TFRECORD)
endif()
find_package(CURL QUIET)              # libcurl: the most used HTTP client; keeps connections, has a time-out for every wait
find_package(HDF5 QUIET COMPONENTS C)  # The HDF Group's library, the only complete one; C, because its C++ API adds nothing here
if(HDF5_FOUND)
  add_library(hdf5 INTERFACE)
  target_link_libraries(hdf5 INTERFACE ${HDF5_C_LIBRARIES})
  target_include_directories(hdf5 INTERFACE ${HDF5_C_INCLUDE_DIRS})
  target_compile_definitions(hdf5 INTERFACE HAVE_HDF5)
endif()
find_package(LibArchive QUIET)        # libarchive, of FreeBSD's tar: reads and writes the tars of storage webdataset
if(LibArchive_FOUND)
  target_compile_definitions(LibArchive::LibArchive INTERFACE HAVE_LIBARCHIVE)
endif()
include(cmake/arrow.cmake)            # Apache Arrow: the library that defines the formats of storages arrow and parquet
if(BUILD_TRAINING)
  include(cmake/libtorch.cmake)
  include(cmake/cuda.cmake)
  set(MPI_CXX_SKIP_MPICXX ON)          # the C++ bindings were removed from the standard and don't link
  find_package(MPI COMPONENTS C)      # OpenMPI: the collectives of the article's Horovod; supported by mpirun and Slurm
  find_package(benchmark QUIET)       # Google Benchmark: micro-benchmarks with a JSON that other tools read
endif()
if(BUILD_TESTING)
  find_package(GTest REQUIRED)        # GoogleTest: the usual test library; CMake discovers its tests
endif()

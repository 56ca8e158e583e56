// Why a storage, or a kind of the users' files, is missing in this build.
#pragma once

namespace bench {

inline constexpr const char* kNoArrow =
    "this build found no Apache Arrow 15 or newer: let ./run_matrix install the wheel pyarrow, or add an "
    "Arrow to CMAKE_PREFIX_PATH, and build again";
inline constexpr const char* kNoHdf5 = "this build found no HDF5: install libhdf5-dev and build again";
inline constexpr const char* kNoLibarchive =
    "this build found no libarchive: install libarchive-dev and build again";
inline constexpr const char* kNoTfRecord =
    "this build found no ISA-L or no protobuf: install libisal-dev and libprotobuf-dev and build again";

}  // namespace bench

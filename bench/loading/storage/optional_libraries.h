// Messages for storages that are missing in this build; each is shared by several storages.
#pragma once

namespace bench {

inline constexpr const char* kNoArrow =
    "this build found no Apache Arrow 15 or newer: let ./run_matrix install the wheel pyarrow, or add an "
    "Arrow to CMAKE_PREFIX_PATH, and build again";
inline constexpr const char* kNoHdf5 = "this build found no HDF5: install libhdf5-dev and build again";

}  // namespace bench

# The warning options of project_options. The -Wno options for GNU avoid three false warnings of GCC 12 about std::string
# operator+ (GCC bug 105329).
set(WARNINGS -Wall -Wextra -Wno-unused-parameter $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
             $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)

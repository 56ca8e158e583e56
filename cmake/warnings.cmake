# What compilers are to warn of, as project_options has it. tests/clang_test.sh builds with it alone.
# GCC 12 warns of std::string operator+ by mistake, in three ways (GCC bug 105329).
set(WARNINGS -Wall -Wextra -Wno-unused-parameter $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
             $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow> $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>)

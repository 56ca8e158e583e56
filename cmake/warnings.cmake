# What compilers are to warn of, as project_options has it. tests/clang_test.sh builds with it alone.
# GCC 12 warns of std::string operator+ by mistake (GCC bug 105329); other compilers don't know that warning.
set(WARNINGS -Wall -Wextra -Wno-unused-parameter $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)

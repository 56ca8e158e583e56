// Facts about the machine.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace base {

std::string host_name();  // RUN_MATRIX_HOST where that is set
// 20260131T030000-<host>, local time: the name of a results folder.
std::string time_and_host();
// The processor's instruction sets for 16-bit types, e.g. avx512_bf16.
std::vector<std::string> sixteen_bit_instructions();

// The value in the first line of `file` that starts with `key`, without colon, quotes and blanks; empty when
// no line does.
std::string value_of(const char* file, const std::string& key);

}  // namespace base

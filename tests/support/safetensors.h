// Reads a safetensors file (8-byte header length, JSON header, raw data) into tensors, for the golden
// fixture.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

inline std::map<std::string, at::Tensor> read_safetensors(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (bytes.size() < 8) throw std::runtime_error(path + ": missing or too short");
  uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), 8);
  const auto header = nlohmann::json::parse(bytes.substr(8, header_size));
  std::map<std::string, at::Tensor> tensors;
  for (const auto& [name, entry] : header.items()) {
    const auto shape = entry["shape"].get<std::vector<int64_t>>();
    const at::ScalarType type = entry["dtype"] == "I64" ? at::kLong : at::kFloat;
    at::Tensor tensor = at::empty(shape, at::TensorOptions(type));
    std::memcpy(tensor.mutable_data_ptr(),
                bytes.data() + 8 + header_size + entry["data_offsets"][0].get<size_t>(), tensor.nbytes());
    tensors[name] = tensor;
  }
  return tensors;
}

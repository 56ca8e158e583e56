// The article's rows and axis values for tests that run without train_slice.
#pragma once
#include <filesystem>
#include <map>
#include <stdexcept>
#include <string>

#include "harness/config/config.h"

namespace harness {

inline AxisValues values() {
  auto named = [](std::initializer_list<const char*> names) {
    std::vector<AxisValue> list;
    for (const char* name : names) list.push_back({name, name, {}, ""});
    return list;
  };
  AxisValues all = {{"device", named({"cpu", "cuda"})},
                    {"strategy", named({"single", "data_parallel", "split_model", "ddp", "apex", "horovod"})},
                    {"backend", named({"none", "gloo", "mpi", "nccl"})},
                    {"link", named({"none", "loopback", "ethernet", "infiniband"})},
                    {"precision", named({"o0", "o1", "o2", "o3", "bf16"})},
                    {"storage", named({"synthetic", "files", "tmpfs", "lmdb"})},
                    {"model", named({"resnet18", "vit_tiny"})},
                    {"optimizer", named({"sgd", "adam"})}};
  all["model"][1].traits.batch_norm = false;
  for (AxisValue& strategy : all["strategy"])
    strategy.traits.process_per_device =
        strategy.name != "single" && strategy.name != "data_parallel" && strategy.name != "split_model";
  all["strategy"][2].traits.stages = 2;
  all["backend"][2].missing = "the MPI backend is not built yet";
  return all;
}

inline const std::vector<Scale>& scales() {
  static const std::vector<Scale> loaded =
      load_scales(std::filesystem::path(SOURCE_DIR) / "configs/scales.yaml");
  return loaded;
}

inline Matrix article(const std::string& scale = "rehearsal") {
  return load_matrix(std::filesystem::path(SOURCE_DIR) / "configs/article.yaml", find_scale(scales(), scale),
                     values());
}

inline const Row& row_of(const std::vector<Row>& rows, const std::string& id) {
  for (const Row& row : rows)
    if (row.id == id) return row;
  throw std::runtime_error("no row " + id);
}

using Times = std::map<std::string, double>;  // phase -> ms in every batch

inline Times with(Times times, const Times& more) {
  for (const auto& [phase, ms] : more) times[phase] = ms;
  return times;
}

template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace harness

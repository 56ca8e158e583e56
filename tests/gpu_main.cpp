// main of the tests with the label gpu: without a GPU they are skipped as a whole, and CTest is told so.
#include <gtest/gtest.h>

#include <iostream>

#include "bench/registry/registry.h"

static std::string why_no_gpu() {
  for (const bench::Value& value : bench::registered_values())
    if (value.axis == "device" && value.name == "cuda") return value.missing;
  return "this build has no device cuda";
}

int main(int argc, char** argv) {
  if (const std::string why = why_no_gpu(); !why.empty()) {
    std::cout << "skipped: " << why << '\n';
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}

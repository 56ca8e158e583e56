// unit: Device files of emulated accelerators: the shipped ones, and each fault with its file and line.
#include "harness/config/device_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "harness/base/file.h"
#include "harness/base/scratch.h"
#include "harness/config/config_error.h"
#include "tests/support/failure_of.h"

namespace harness::device_file_test {
namespace {

namespace fs = std::filesystem;

fs::path shipped() { return device_file(SOURCE_DIR, kDefaultDeviceFile); }

class DeviceFile : public testing::Test {
 protected:
  // The shipped file with one piece of text replaced.
  std::string refused(const std::string& from, const std::string& to) {
    std::string text = base::read_file(shipped());
    const size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    text.replace(at, from.size(), to);
    const fs::path file = folder_.path() / "v100-article.yaml";
    std::ofstream(file) << text;
    return failure_of([&] { read_device_file(file); });
  }
  const base::Scratch folder_;
};

TEST_F(DeviceFile, TheArticlesDeviceHasItsFigures) {
  const EmulatedDevice device = read_device_file(shipped());
  const PrecisionCosts& costs = device.models.at("resnet18").at("o0");
  // Row 0: 512 images, 161.0 s for 300 batches.
  const double copy_ms = 512 * 602112 / device.h2d_gb_per_s.value * 1e-6;
  const double step_ms = 512 * (costs.forward_ms_per_image.value + costs.backward_ms_per_image.value) +
                         costs.optimizer_ms.value + copy_ms;
  EXPECT_NEAR(step_ms * 300 / 1000, 161.0, 0.3);
  EXPECT_EQ(costs.optimizer_ms.provenance, "stated");
}

TEST_F(DeviceFile, SaysWhatItWasCalibratedOn) {
  EmulatedDevice device = read_device_file(shipped());
  EXPECT_EQ(device.calibrated_on.at("0"), "total");
  EXPECT_EQ(device.calibrated_on.at("7"), "shares of scatter and broadcast");
  EXPECT_FALSE(device.calibrated_on.contains("10")) << "held out";
  std::string text = base::read_file(shipped());
  const size_t from = text.find("calibrated_on:"), to = text.find("\nmodels:");
  const fs::path file = folder_.path() / "v100-article.yaml";
  std::ofstream(file) << text.erase(from, to - from);
  EXPECT_TRUE(read_device_file(file).calibrated_on.empty()) << "not about the article";
  EXPECT_EQ(decode<EmulatedDevice>(encode(device)).calibrated_on, device.calibrated_on);
}

TEST_F(DeviceFile, FaultsAreNamedWithFileAndLine) {
  EXPECT_SAYS(refused("summary:", "# "), "yaml:1: missing key; expected 'summary'");
  for (const char* rate : {"fast", "nan", "0", "1e-300", "1e308"})
    EXPECT_SAYS(
        refused("value: 900", std::string("value: ") + rate),
        std::string(
            "yaml:67: wrong value of 'memory_gb_per_s'; expected a number from 0.001 to 1000000 GB/s; "
            "found '") +
            rate);
  EXPECT_SAYS(refused("value: 5,", "value: -5,"), "from 0 to 1000000 us; found '-5'");
  EXPECT_SAYS(refused("value: 0.28760", "value: 1e308"), "from 0 to 10000 ms; found '1e308'");
  EXPECT_SAYS(refused("value: 16,", "value: 1e-300,"), "from 0.001 to 1000000 GiB, or 0; found '1e-300'");
  EXPECT_SAYS(refused("provenance: published", "provenance: known"), "no provenance");
  EXPECT_SAYS(refused("\"the smaller of the two V100\"", "\"\""),
              "no source; expected where the figure is from");
  EXPECT_SAYS(refused("0: total", "0: [total]"), "yaml:9: wrong type of '0'; expected one value");
  EXPECT_SAYS(refused("launch_us:", "launch_ms:"), "launch_us");
  EXPECT_SAYS(
      refused("launch_us:", "h2d_devices_per_link: {value: 0.5, provenance: assumed, source: x}\nlaunch_us:"),
      "from 1 to 1024 devices; found '0.5'");
  const std::string unknown = refused("memory_gib:", "color: {}\nmemory_gib:");
  EXPECT_SAYS(unknown, "unknown key");
  EXPECT_SAYS(unknown, "yaml:68");
  EXPECT_SAYS(refused("name: v100-article", "name: other"), "the name is not the file's");
}

TEST_F(DeviceFile, DevicesMayShareALinkFromTheHost) {
  EmulatedDevice device = read_device_file(shipped());
  const double alone = h2d_ms(device, 1e9, true, 4);
  device.h2d_devices_per_link = SourcedFigure{2, "assumed", "a test"};
  device.name = "shared";
  const fs::path file = folder_.path() / "shared.yaml";
  std::ofstream(file) << device_file_text(device);
  const EmulatedDevice shared = read_device_file(file);
  EXPECT_NEAR(h2d_ms(shared, 1e9, true, 4), 2 * alone, 0.02 * alone) << "two of four on each link";
  EXPECT_DOUBLE_EQ(h2d_ms(shared, 1e9, true, 1), alone);
}

TEST_F(DeviceFile, EveryShippedFileLoadsAndSaysWhereEachFigureIsFrom) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(SOURCE_DIR) / "configs" / "devices")) {
    const EmulatedDevice device = read_device_file(entry.path());  // refuses a figure without them
    EXPECT_TRUE(device.models.at("resnet18").contains("o0")) << device.name;
    for (const auto& [model, precisions] : device.models)
      for (const auto& [precision, costs] : precisions) EXPECT_GT(costs.step_ms(1), 0) << model << precision;
    ++files;
  }
  EXPECT_GE(files, 4);
}

TEST_F(DeviceFile, PublishedRatesOfResNet50AreMetAndResNet18IsMarkedAsDerived) {
  const auto device = [](const char* name) { return read_device_file(device_file(SOURCE_DIR, name)); };
  // mlcommons/storage: seconds per batch of 400; lambdal/deeplearning-benchmark: images per second.
  EXPECT_NEAR(device("a100").models.at("resnet50").at("o0").step_ms(400), 435, 0.5);
  EXPECT_NEAR(device("h100").models.at("resnet50").at("o0").step_ms(400), 224, 0.5);
  EXPECT_NEAR(1280e3 / device("h200").models.at("resnet50").at("o0").step_ms(1280), 2259, 1);
  EXPECT_NEAR(2560e3 / device("h200").models.at("resnet50").at("o1").step_ms(2560), 3079, 1);
  for (const char* name : {"a100", "h100", "h200"}) {
    const auto derived = device(name).models.at("resnet18");
    for (const auto& [precision, costs] : derived) {
      // results/h100
      const char* provenance = name == std::string("h100") && precision == "o0" ? "measured" : "assumed";
      EXPECT_EQ(costs.forward_ms_per_image.provenance, provenance) << name << precision;
      EXPECT_EQ(costs.backward_ms_per_image.provenance, provenance) << name << precision;
    }
  }
}

TEST_F(DeviceFile, MissingTimesOfARowAreNamedWithFileAndLine) {
  const fs::path file = shipped();
  const EmulatedDevice device = read_device_file(file);
  Row row;
  row.id = "7";
  EXPECT_NO_THROW(require_times(device, file, row));
  row.precision = "bf16";
  EXPECT_SAYS(failure_of([&] { require_times(device, file, row); }),
              "yaml:13: no figures for precision bf16, which row 7 asks for");
  row.model = "vit_tiny";
  EXPECT_SAYS(failure_of([&] { require_times(device, file, row); }),
              "yaml:12: no figures for model vit_tiny");
}

TEST_F(DeviceFile, TimesOfANetworkOfAnotherSizeAreRefused) {
  EmulatedDevice device = read_device_file(shipped());
  device.name = "mine";
  device.image_px = 64;
  const fs::path file = folder_.path() / "mine.yaml";
  std::ofstream(file) << device_file_text(device);
  Row row;
  row.id = "0";
  row.image_px = 224;
  EXPECT_SAYS(
      failure_of([&] { require_times(device, file, row); }),
      "yaml:9: the times are those of another image_px than row 0's; expected image_px: 64; found 224");
  row.image_px = 64;
  EXPECT_NO_THROW(require_times(device, file, row)) << "the file says nothing of the width";
}

TEST_F(DeviceFile, WhatIsWrittenIsReadAgain) {
  EmulatedDevice device = read_device_file(shipped());
  device.name = "mine";
  device.summary = "a name: with \"quotes\" # and signs";
  device.image_px = 64;
  device.launch_us.source = "row 0, \"quoted\", {braces}";
  const fs::path file = folder_.path() / "mine.yaml";
  std::ofstream(file) << device_file_text(device);
  EXPECT_EQ(encode(read_device_file(file)), encode(device));
}

TEST_F(DeviceFile, ANameThatEndsInYamlIsAPath) {
  EXPECT_EQ(device_file(SOURCE_DIR, "results/mine.yaml"), "results/mine.yaml");
  EXPECT_SAYS(failure_of([] { read_device_file("results/mine.yaml"); }), "no such file");
}

TEST_F(DeviceFile, AnotherNameIsAnsweredWithThoseThatExist) {
  const std::string text = failure_of([] { device_file(SOURCE_DIR, "v100-articel"); });
  EXPECT_SAYS(text, "v100-article");
}

}  // namespace
}  // namespace harness::device_file_test

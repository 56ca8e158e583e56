// A fake NVML library. GPU 1 provides everything, GPU 2 refuses every value, GPU 3 is divided (MIG) and
// refuses what the driver doesn't know of a part, GPU 4 fails in the middle of its counters. The clocks'
// reasons have an old driver's function name. The energy counter increases with each query. With OLD_DRIVER
// it lacks the counters and what else came after 2016.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNotSupported = 3, kNotFound = 6, kLost = 15;

struct Gpu {
  bool tells, divided = false, fails = false;
  unsigned long long millijoules = 1'000'000;
} gpus[4] = {{true}, {false}, {true, true}, {true, false, true}};
int users = 0, samples = 0;

template <class Value>
int tell(Gpu* gpu, Value* out, Value value) {
  if (users <= 0) return 1;  // uninitialised
  if (!gpu->tells) return kNotSupported;
  *out = value;
  return 0;
}

}  // namespace

extern "C" {

struct Utilisation {
  unsigned gpu, memory;
};

int nvmlInit_v2() { return std::getenv("FAKE_NVML_BROKEN") ? 9 : (++users, 0); }
int nvmlShutdown() { return --users, 0; }
const char* nvmlErrorString(int error) { return error == kNotFound ? "Not Found" : "Driver Not Loaded"; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* id, Gpu** gpu) {
  int number = 0;
  if (std::sscanf(id, "0000:0%1d:00.0", &number) != 1 || number < 1 || number > 4) return kNotFound;
  return *gpu = &gpus[number - 1], 0;
}
int nvmlDeviceGetUtilizationRates(Gpu* gpu, Utilisation* out) {
  return gpu->divided ? kNotSupported : tell(gpu, out, {90, 20});
}
int nvmlDeviceGetClockInfo(Gpu* gpu, int clock, unsigned* out) {
  return tell(gpu, out, clock == 1 ? 1410u : 1215u);
}
int nvmlDeviceGetMaxClockInfo(Gpu* gpu, int clock, unsigned* out) {
  return clock == 1 ? tell(gpu, out, 1980u) : kNotSupported;
}
int nvmlDeviceGetPowerUsage(Gpu* gpu, unsigned* out) { return tell(gpu, out, 250'500u); }
int nvmlDeviceGetTemperature(Gpu* gpu, int sensor, unsigned* out) {
  return tell(gpu, out, sensor == 0 ? 55u : 0u);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(Gpu* gpu, unsigned long long* out) {
  return tell(gpu, out, 4ull);
}
int nvmlDeviceGetTotalEnergyConsumption(Gpu* gpu, unsigned long long* out) {
  return tell(gpu, out, gpu->millijoules += 2500);
}
int nvmlDeviceGetUUID(Gpu* gpu, char* out, unsigned size) {
  char ignored;
  std::snprintf(out, size, "GPU-%d", int(gpu - gpus) + 1);
  return tell(gpu, &ignored, 'x');
}
int nvmlSystemGetDriverVersion(char* out, unsigned size) { return std::snprintf(out, size, "580.1"), 0; }
int nvmlDeviceGetCurrPcieLinkGeneration(Gpu* gpu, unsigned* out) { return tell(gpu, out, 4u); }
int nvmlDeviceGetMaxPcieLinkGeneration(Gpu* gpu, unsigned* out) { return tell(gpu, out, 5u); }
int nvmlDeviceGetCurrPcieLinkWidth(Gpu* gpu, unsigned* out) { return tell(gpu, out, 8u); }
int nvmlDeviceGetMaxPcieLinkWidth(Gpu* gpu, unsigned* out) { return tell(gpu, out, 16u); }
int nvmlDeviceGetPersistenceMode(Gpu* gpu, unsigned* out) { return tell(gpu, out, 1u); }
int nvmlDeviceGetEccMode(Gpu* gpu, unsigned* now, unsigned* later) { return *later = 0, tell(gpu, now, 1u); }

int nvmlDeviceGetTotalEccErrors(Gpu* gpu, int type, int counter, unsigned long long* out) {
  return tell(gpu, out, type == 1 && counter == 0 ? 3ull : 1000ull);
}

#ifndef OLD_DRIVER
int nvmlDeviceGetRemappedRows(Gpu* gpu, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  *corrected = 1, *uncorrected = 2, *pending = 1;
  return tell(gpu, failed, 0u);
}
// Of each link one replay, and no other error.
int nvmlDeviceGetNvLinkErrorCounter(Gpu* gpu, unsigned link, int counter, unsigned long long* out) {
  return link < 6 && !gpu->divided ? tell(gpu, out, counter == 0 ? 1ull : 0ull) : kNotSupported;
}
// Of six links, the third is inactive.
int nvmlDeviceGetNvLinkState(Gpu* gpu, unsigned link, unsigned* out) {
  return link < 6 && !gpu->divided ? tell(gpu, out, unsigned(link != 2)) : kNotSupported;
}
int nvmlDeviceGetMigMode(Gpu* gpu, unsigned* now, unsigned* later) {
  return *later = 1, tell(gpu, now, unsigned(gpu->divided));
}

struct Support {
  unsigned version, supported;
};
struct Sample {
  int number;
};
struct Metric {
  unsigned id;
  int error;
  double value;
  const char* names[3];
};
struct Request {
  unsigned version, count;
  Sample *before, *after;
  Metric metrics[333];
};
int nvmlGpmQueryDeviceSupport(Gpu* gpu, Support* out) {
  return out->version == 1 ? tell(gpu, &out->supported, 1u) : 25;  // version mismatch
}
int nvmlGpmSampleAlloc(Sample** out) { return *out = new Sample{++samples}, 0; }
int nvmlGpmSampleFree(Sample* sample) { return delete sample, --samples, 0; }
int nvmlGpmSampleGet(Gpu* gpu, Sample* sample) {
  if (gpu->divided) return kNotSupported;
  sample->number = int(gpu - gpus);
  return 0;
}
// Each value is its number; GPU 4 refuses one and has no value for another.
int nvmlGpmMetricsGet(Request* request) {
  if (request->version != 1 || request->before == request->after) return 2;
  for (unsigned i = 0; i < request->count; ++i) {
    Metric& metric = request->metrics[i];
    metric.value = metric.id;
    if (gpus[request->before->number].fails && metric.id == 2) metric.error = kLost;
    if (gpus[request->before->number].fails && metric.id == 3) metric.value = std::nan("");
  }
  return 0;
}
int fakeNvmlSamples() { return samples; }
#endif
}

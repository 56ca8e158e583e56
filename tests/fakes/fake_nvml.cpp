// A fake NVML library: GPU 1 provides everything under an old driver's function names, GPU 2 refuses every
// value. The energy counter increases with each query.
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kNotSupported = 3, kNotFound = 6;

struct Gpu {
  bool tells;
  unsigned long long millijoules = 1'000'000;
} gpus[2] = {{true}, {false}};
int users = 0;

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
  if (std::strcmp(id, "0000:01:00.0") == 0) return *gpu = &gpus[0], 0;
  if (std::strcmp(id, "0000:02:00.0") == 0) return *gpu = &gpus[1], 0;
  return kNotFound;
}
int nvmlDeviceGetUtilizationRates(Gpu* gpu, Utilisation* out) { return tell(gpu, out, {90, 20}); }
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
}

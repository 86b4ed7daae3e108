/* What trine/compute/c.h promises, from C. `c_api cpu`, `c_api cuda:0`; `--no-kernels` where there is no compiler. */
#include "check.h"

void test_versions(void) {
  CHECK(trine_c_abi() == TRINE_C_ABI);
  CHECK(strchr(trine_version(), '.') != NULL);
  CHECK(strcmp(trine_last_error(), "") == 0);
  CHECK(strcmp(trine_status_name(TRINE_OUT_OF_MEMORY), "out of memory") == 0);
  CHECK(strcmp(trine_status_name((trine_status)55), "unknown") == 0);
  for (int status = 0; status <= 9; ++status) CHECK(trine_status_name((trine_status)status)[0] != 0);
}

void test_devices(const char* id) {
  size_t count = 0;
  int found = 0;
  OK(trine_device_count(&count));
  for (size_t i = 0; i < count; ++i) {
    trine_device* device = NULL;
    trine_device_info info = {sizeof info};
    OK(trine_device_at(i, &device));
    OK(trine_device_get_info(device, &info));
    found += strcmp(info.id, id) == 0;
    trine_device_destroy(device);
  }
  CHECK(found == 1);

  trine_device* device = NULL;
  FAILS(TRINE_INVALID_ARGUMENT, trine_device_at(count, &device), "accepted are those below");
  FAILS(TRINE_DEVICE_FAILED, trine_device_open("tpu", &device), "cpu");
  CHECK(device == NULL);
  REFUSES_NULL(trine_device_count(NULL), "trine_device_count: count");
  REFUSES_NULL(trine_device_at(0, NULL), "device");
  REFUSES_NULL(trine_device_open(NULL, &device), "id");
  REFUSES_NULL(trine_device_open("cpu", NULL), "device");

  OK(trine_device_open(id, &device));
  trine_device_info info = {sizeof info};
  trine_device_limits limits = {sizeof limits};
  size_t bytes = 0;
  OK(trine_device_get_info(device, &info));
  CHECK(info.struct_bytes == sizeof info && info.name[0] && info.architecture[0] && info.memory_bytes > 0);
  OK(trine_device_get_limits(device, &limits));
  CHECK(limits.threads_per_block == 1024 && limits.warp_threads == 32 && limits.cooperative);
  CHECK(limits.block[2] == 64 && limits.grid[1] == 65535 && limits.constant_bytes == 65536);
  OK(trine_device_free_bytes(device, &bytes));
  CHECK(bytes > 0 && bytes <= info.memory_bytes);
  OK(trine_device_trim_pool(device, 0));
  REFUSES_NULL(trine_device_get_info(NULL, &info), "device");
  REFUSES_NULL(trine_device_get_info(device, NULL), "info");
  REFUSES_NULL(trine_device_get_limits(device, NULL), "limits");
  REFUSES_NULL(trine_device_get_limits(NULL, &limits), "device");
  REFUSES_NULL(trine_device_free_bytes(device, NULL), "bytes");
  REFUSES_NULL(trine_device_free_bytes(NULL, &bytes), "device");
  REFUSES_NULL(trine_device_trim_pool(NULL, 0), "device");
  info.struct_bytes = 8;
  FAILS(TRINE_INVALID_ARGUMENT, trine_device_get_info(device, &info), "set struct_bytes to its size");
  limits.struct_bytes = 0;
  FAILS(TRINE_INVALID_ARGUMENT, trine_device_get_limits(device, &limits), "set struct_bytes to its size");
  trine_device_destroy(device);
}

int main(int argc, char** argv) {
  const char* id = argc > 1 ? argv[1] : "cpu";
  const int kernels = !(argc > 2 && strcmp(argv[2], "--no-kernels") == 0);
  trine_device* device = NULL;
  test_versions();
  test_devices(id);
  OK(trine_device_open(id, &device));
  test_memory(device);
  test_streams(device);
  if (kernels) {
    test_kernels(device);
    test_graphs(device);
  }
  trine_device_destroy(device);
  trine_device_destroy(NULL);
  printf("passed\n");
  return 0;
}

/* Modules, programs, kernels. */
#include "check.h"

static const char kSource[] =
    "__constant__ float offset = 1;\n"
    "template <class T> __global__ void scale(T* x, T a, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] = x[i] * a + T(offset) + T(PLUS);\n"
    "}\n"
    "__global__ void dims(int* out) {\n"
    "  extern __shared__ int more[];\n"
    "  int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);\n"
    "  more[t] = t;\n"
    "  __syncthreads();\n"
    "  if (t == 0) out[blockIdx.x + gridDim.x * blockIdx.y] = more[blockDim.x * blockDim.y * blockDim.z - 1];\n"
    "}\n";

static void test_launches(trine_device* device, trine_stream* stream, const trine_module* module) {
  enum { kCount = 1000 };
  float x[kCount];
  float a = 2;
  int n = kCount;
  trine_buffer* buffer = NULL;
  trine_kernel* kernel = NULL;
  trine_kernel_info info = {sizeof info};
  trine_launch_shape shape = {sizeof shape};
  OK(trine_kernel_get(module, "scale<float>", &kernel));
  OK(trine_kernel_get_info(kernel, &info));
  CHECK(strstr(info.name, "scale<float>") && info.most_threads == 1024 && info.parameter_count == 3);
  CHECK(info.parameter_bytes[0] == 8 && info.parameter_bytes[1] == 4 && info.parameter_bytes[2] == 4);

  for (int i = 0; i < kCount; ++i) x[i] = (float)i;
  OK(trine_buffer_create(device, sizeof x, &buffer));
  OK(trine_upload(stream, buffer, 0, x, sizeof x));
  void* data = trine_buffer_data(buffer);
  const void* arguments[] = {&data, &a, &n};
  const uint32_t bytes[] = {sizeof data, sizeof a, sizeof n};
  shape.grid[0] = 8;
  shape.block[0] = 128;
  OK(trine_kernel_launch(kernel, stream, &shape, arguments, bytes, 3));
  OK(trine_kernel_launch(kernel, stream, &shape, arguments, NULL, 3));
  OK(trine_download(stream, x, buffer, 0, sizeof x));
  OK(trine_stream_synchronize(stream));
  for (int i = 0; i < kCount; ++i) CHECK(x[i] == 4 * (float)i + 3 * 11);

  const uint32_t wrong[] = {sizeof data, 8, sizeof n};
  const void* holes[] = {&data, NULL, &n};
  FAILS(TRINE_INVALID_ARGUMENT, trine_kernel_launch(kernel, stream, &shape, arguments, wrong, 3), "argument 1");
  FAILS(TRINE_INVALID_ARGUMENT, trine_kernel_launch(kernel, stream, &shape, arguments, bytes, 2), "2 arguments");
  FAILS(TRINE_INVALID_ARGUMENT, trine_kernel_launch(kernel, stream, &shape, NULL, NULL, 0), "0 arguments");
  REFUSES_NULL(trine_kernel_launch(kernel, stream, &shape, NULL, bytes, 3), "arguments");
  REFUSES_NULL(trine_kernel_launch(kernel, stream, &shape, holes, bytes, 3), "an argument");
  REFUSES_NULL(trine_kernel_launch(NULL, stream, &shape, arguments, bytes, 3), "trine_kernel_launch: kernel");
  REFUSES_NULL(trine_kernel_launch(kernel, NULL, &shape, arguments, bytes, 3), "stream");
  shape.block[0] = 2000;
  FAILS(TRINE_INVALID_ARGUMENT, trine_kernel_launch(kernel, stream, &shape, arguments, bytes, 3), "2000");
  shape.struct_bytes = 4;
  FAILS(TRINE_INVALID_ARGUMENT, trine_kernel_launch(kernel, stream, &shape, arguments, bytes, 3), "struct_bytes");
  info.struct_bytes = 4;
  FAILS(TRINE_INVALID_ARGUMENT, trine_kernel_get_info(kernel, &info), "struct_bytes");
  REFUSES_NULL(trine_kernel_get_info(NULL, &info), "kernel");
  REFUSES_NULL(trine_kernel_get_info(kernel, NULL), "info");
  trine_kernel_destroy(kernel);
  trine_buffer_destroy(buffer);
}

static void test_dims(trine_device* device, trine_stream* stream, const trine_module* module) {
  int out[6];
  trine_buffer* buffer = NULL;
  trine_kernel* kernel = NULL;
  OK(trine_buffer_create(device, sizeof out, &buffer));
  OK(trine_fill(stream, buffer, 0, sizeof out, 0xff));
  OK(trine_kernel_get(module, "dims", &kernel));
  void* data = trine_buffer_data(buffer);
  const void* arguments[] = {&data};
  const trine_launch_shape shape = {sizeof shape, {3, 2, 0}, {4, 2, 3}, 24 * sizeof(int), 0};
  OK(trine_kernel_launch(kernel, stream, &shape, arguments, NULL, 1));
  OK(trine_download(stream, out, buffer, 0, sizeof out));
  OK(trine_stream_synchronize(stream));
  for (int i = 0; i < 6; ++i) CHECK(out[i] == 23);
  trine_kernel_destroy(kernel);
  trine_buffer_destroy(buffer);
}

static void test_variable(trine_stream* stream, const trine_module* module) {
  void* address = NULL;
  size_t bytes = 0;
  float value = 0;
  OK(trine_module_variable(module, "offset", &address, &bytes));
  CHECK(bytes == 4);
  OK(trine_download_from(stream, &value, address, bytes));
  OK(trine_stream_synchronize(stream));
  CHECK(value == 1);
  OK(trine_module_variable(module, "offset", &address, NULL));
  FAILS(TRINE_INVALID_ARGUMENT, trine_module_variable(module, "other", &address, &bytes), "'other'");
  REFUSES_NULL(trine_module_variable(NULL, "offset", &address, &bytes), "module");
  REFUSES_NULL(trine_module_variable(module, NULL, &address, &bytes), "name");
  REFUSES_NULL(trine_module_variable(module, "offset", NULL, &bytes), "address");
}

static void test_compile_refusals(trine_device* device) {
  trine_module* module = NULL;
  trine_program* program = NULL;
  trine_kernel* kernel = NULL;
  const char* list[] = {"A", NULL};
  trine_compile_options options = {sizeof options};
  FAILS(TRINE_INVALID_ARGUMENT, trine_module_compile(device, "__global__ void k( {}", NULL, &module), "kernel.cu:1");
  options.name = "mine.cu";
  FAILS(TRINE_INVALID_ARGUMENT, trine_module_compile(device, "?", &options, &module), "mine.cu:1");
  options.standard = 11;
  FAILS(TRINE_INVALID_ARGUMENT, trine_module_compile(device, "", &options, &module), "standard 11");
  options.standard = 0;
  options.mode = (trine_cpu_mode)9;
  FAILS(TRINE_INVALID_ARGUMENT, trine_module_compile(device, "", &options, &module), "mode 9");
  options.mode = TRINE_MODE_AUTOMATIC;
  options.defines = list;
  options.define_count = 2;
  REFUSES_NULL(trine_module_compile(device, "", &options, &module), "a define");
  options.defines = NULL;
  REFUSES_NULL(trine_module_compile(device, "", &options, &module), "a define");
  options.struct_bytes = 1;
  FAILS(TRINE_INVALID_ARGUMENT, trine_module_compile(device, "", &options, &module), "struct_bytes");
  FAILS(TRINE_INVALID_ARGUMENT, trine_module_load(device, "rubbish", 7, &module), "");
  CHECK(module == NULL);
  REFUSES_NULL(trine_module_compile(NULL, "", NULL, &module), "device");
  REFUSES_NULL(trine_module_compile(device, NULL, NULL, &module), "source");
  REFUSES_NULL(trine_module_compile(device, "", NULL, NULL), "module");
  REFUSES_NULL(trine_module_load(NULL, "", 0, &module), "device");
  REFUSES_NULL(trine_module_load(device, NULL, 0, &module), "program");
  REFUSES_NULL(trine_module_load(device, "", 0, NULL), "module");
  REFUSES_NULL(trine_program_compile(NULL, NULL, NULL, 0, &program), "source");
  REFUSES_NULL(trine_program_compile("", NULL, NULL, 0, NULL), "program");
  REFUSES_NULL(trine_program_compile("", NULL, NULL, 1, &program), "an architecture");
  REFUSES_NULL(trine_kernel_get(NULL, "k", &kernel), "module");
  CHECK(trine_module_kernel_count(NULL) == 0 && trine_module_kernel_name(NULL, 0) == NULL);
  CHECK(trine_program_data(NULL) == NULL && trine_program_bytes(NULL) == 0);
}

static void test_module(trine_device* device, const trine_module* module) {
  trine_stream* stream = NULL;
  trine_kernel* kernel = NULL;
  OK(trine_stream_create(device, 0, &stream));
  CHECK(trine_module_kernel_count(module) == 2);
  CHECK(trine_module_kernel_name(module, 0) != NULL && trine_module_kernel_name(module, 2) == NULL);
  FAILS(TRINE_INVALID_ARGUMENT, trine_kernel_get(module, "other", &kernel), "it has");
  REFUSES_NULL(trine_kernel_get(module, NULL, &kernel), "name");
  REFUSES_NULL(trine_kernel_get(module, "dims", NULL), "kernel");
  test_launches(device, stream, module);
  test_dims(device, stream, module);
  test_variable(stream, module);
  trine_stream_destroy(stream);
}

void test_kernels(trine_device* device) {
  const char *instances[] = {"scale<float>"}, *defines[] = {"PLUS=10"};
  trine_compile_options options = {sizeof options};
  trine_module* module = NULL;
  trine_program* program = NULL;
  options.instances = instances;
  options.instance_count = 1;
  options.defines = defines;
  options.define_count = 1;
  OK(trine_module_compile(device, kSource, &options, &module));
  test_module(device, module);
  trine_module_destroy(module);

  OK(trine_program_compile(kSource, &options, NULL, 0, &program));
  CHECK(trine_program_bytes(program) > 0);
  OK(trine_module_load(device, trine_program_data(program), trine_program_bytes(program), &module));
  trine_program_destroy(program);
  test_module(device, module);
  trine_module_destroy(module);
  test_compile_refusals(device);
  trine_module_destroy(NULL);
  trine_program_destroy(NULL);
  trine_kernel_destroy(NULL);
}

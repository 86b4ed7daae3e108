/* Layer 1 in C: devices, memory, streams, events, kernels in CUDA C++, graphs. What each call means is told in
 * device.h, module.h, graph.h and program.h of this folder; here is how C calls them. docs/c-api.md has a program.
 *
 * Calls return TRINE_OK or why not; trine_last_error() is then the text. They never throw and never end the program.
 * What they create is destroyed by the function of its name: null is allowed, and so is any order, except that work
 * that uses memory must be done. An output is written only on success. Objects are those of C++: one thread at a time
 * for streams, events and graphs, any for devices, modules and kernels.
 *
 * Structs begin with their size, so that later versions may add fields: `trine_launch_shape s = {sizeof s};` and zeros
 * are the defaults. */
#ifndef TRINE_COMPUTE_C_H
#define TRINE_COMPUTE_C_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRINE_C_ABI 1 /* changes when a program must be compiled again */

/* Values are those of docs/errors.md and never change. */
typedef enum trine_status {
  TRINE_OK = 0,
  TRINE_INVALID_ARGUMENT = 2,
  TRINE_UNSUPPORTED = 4,
  TRINE_IO = 6,
  TRINE_OUT_OF_MEMORY = 7,
  TRINE_DEVICE_FAILED = 9,
  TRINE_INTERNAL = 100 /* a mistake of ours */
} trine_status;

typedef struct trine_device trine_device;
typedef struct trine_buffer trine_buffer;
typedef struct trine_host_buffer trine_host_buffer;
typedef struct trine_stream trine_stream;
typedef struct trine_event trine_event;
typedef struct trine_module trine_module;
typedef struct trine_kernel trine_kernel;
typedef struct trine_graph trine_graph;
typedef struct trine_program trine_program;

/* Versions and errors. */
const char* trine_version(void);                    /* "0.1.0" */
int trine_c_abi(void);                              /* TRINE_C_ABI of the library */
const char* trine_last_error(void);                 /* of this thread's last call that failed; "" before the first */
const char* trine_status_name(trine_status status); /* "out of memory"; "unknown" */

/* Devices. Texts live as long as the device's handle. */
typedef struct trine_device_info {
  size_t struct_bytes;
  const char* id; /* "cpu", "cuda:0" */
  const char* name;
  const char* architecture;
  size_t memory_bytes;
  int32_t compute_units;
  int32_t unified_memory;
} trine_device_info;

typedef struct trine_device_limits {
  size_t struct_bytes;
  uint32_t threads_per_block, block[3], grid[3];
  uint32_t shared_bytes_per_block, constant_bytes, warp_threads, registers_per_block;
  int32_t greatest_priority; /* of streams; 0 is the least */
  int32_t cooperative;
} trine_device_limits;

trine_status trine_device_count(size_t* count);
trine_status trine_device_at(size_t index, trine_device** device);
trine_status trine_device_open(const char* id, trine_device** device);
void trine_device_destroy(trine_device* device);
trine_status trine_device_get_info(const trine_device* device, trine_device_info* info);
trine_status trine_device_get_limits(const trine_device* device, trine_device_limits* limits);
trine_status trine_device_free_bytes(const trine_device* device, size_t* bytes);
trine_status trine_device_trim_pool(const trine_device* device, size_t keep_bytes);

/* Memory: of the device, at once or in the order of a stream; of the host, pinned and mapped. */
trine_status trine_buffer_create(const trine_device* device, size_t bytes, trine_buffer** buffer);
trine_status trine_buffer_create_ordered(trine_stream* stream, size_t bytes, trine_buffer** buffer);
void trine_buffer_destroy(trine_buffer* buffer);
void* trine_buffer_data(const trine_buffer* buffer); /* a device address */
size_t trine_buffer_bytes(const trine_buffer* buffer);
trine_status trine_host_buffer_create(const trine_device* device, size_t bytes, trine_host_buffer** buffer);
void trine_host_buffer_destroy(trine_host_buffer* buffer);
void* trine_host_buffer_data(const trine_host_buffer* buffer);
trine_status trine_host_buffer_device_data(const trine_host_buffer* buffer, void** address);

/* Streams. */
trine_status trine_stream_create(const trine_device* device, int32_t priority, trine_stream** stream);
void trine_stream_destroy(trine_stream* stream); /* waits */
int32_t trine_stream_priority(const trine_stream* stream);
trine_status trine_stream_synchronize(trine_stream* stream);
trine_status trine_stream_done(const trine_stream* stream, int* done);
trine_status trine_stream_call(trine_stream* stream, void (*function)(void*), void* argument);

/* Copies and fills, in the order of the stream. Those with buffers check that they stay inside. */
typedef enum trine_copy_kind {
  TRINE_HOST_TO_DEVICE = 0,
  TRINE_DEVICE_TO_HOST = 1,
  TRINE_DEVICE_TO_DEVICE = 2
} trine_copy_kind;

typedef struct trine_pitched {
  void* data;
  size_t row_bytes, slice_bytes; /* from one to the next; 0: without gaps */
  size_t bytes;                  /* that there are from `data` on; 0: not known, not checked */
} trine_pitched;

trine_status trine_upload(trine_stream* stream, const trine_buffer* to, size_t offset, const void* from, size_t bytes);
trine_status trine_download(trine_stream* stream, void* to, const trine_buffer* from, size_t offset, size_t bytes);
trine_status trine_copy(trine_stream* stream, const trine_buffer* to, size_t to_offset, const trine_buffer* from,
                        size_t from_offset, size_t bytes); /* between devices too */
trine_status trine_copy_pitched(trine_stream* stream, const trine_pitched* to, const trine_pitched* from,
                                size_t width_bytes, size_t rows, size_t slices, trine_copy_kind kind);
trine_status trine_upload_to(trine_stream* stream, void* to_device, const void* from, size_t bytes);
trine_status trine_download_from(trine_stream* stream, void* to, const void* from_device, size_t bytes);
trine_status trine_fill(trine_stream* stream, const trine_buffer* buffer, size_t offset, size_t bytes, uint8_t value);

/* Events. */
trine_status trine_event_create(const trine_device* device, trine_event** event);
void trine_event_destroy(trine_event* event);
trine_status trine_event_record(trine_stream* stream, const trine_event* event);
trine_status trine_event_wait(trine_stream* stream, const trine_event* event); /* the stream waits */
trine_status trine_event_synchronize(const trine_event* event);                /* the host waits */
trine_status trine_event_done(const trine_event* event, int* done);
trine_status trine_event_seconds(const trine_event* begin, const trine_event* end, double* seconds);

/* Modules. Lists are `count` texts; a null options is the defaults. */
typedef enum trine_cpu_mode { TRINE_MODE_AUTOMATIC = 0, TRINE_MODE_LANES = 1, TRINE_MODE_THREADS = 2 } trine_cpu_mode;

typedef struct trine_compile_options {
  size_t struct_bytes;
  const char* name; /* of the file, in messages; null: "kernel.cu" */
  const char* const* include_dirs;
  size_t include_dir_count;
  const char* const* defines; /* "NAME" or "NAME=VALUE" */
  size_t define_count;
  const char* const* instances; /* "scale<float>" */
  size_t instance_count;
  const char* const* checks; /* "barrier", ... */
  size_t check_count;
  int32_t standard; /* 14, 17, 20; 0: 20 */
  int32_t debug, fast_math, whole_program;
  trine_cpu_mode mode;
} trine_compile_options;

trine_status trine_module_compile(const trine_device* device, const char* source, const trine_compile_options* options,
                                  trine_module** module);
trine_status trine_module_load(const trine_device* device, const void* program, size_t bytes, trine_module** module);
void trine_module_destroy(trine_module* module);
size_t trine_module_kernel_count(const trine_module* module);
const char* trine_module_kernel_name(const trine_module* module, size_t index); /* null beyond the last */
trine_status trine_module_variable(const trine_module* module, const char* name, void** address, size_t* bytes);

/* What trine_module_load takes, compiled for later. `architectures` as "sm_90" find PTX ready. */
trine_status trine_program_compile(const char* source, const trine_compile_options* options,
                                   const char* const* architectures, size_t architecture_count,
                                   trine_program** program);
void trine_program_destroy(trine_program* program);
const void* trine_program_data(const trine_program* program);
size_t trine_program_bytes(const trine_program* program);

/* Kernels, which keep their module loaded. */
typedef struct trine_kernel_info {
  size_t struct_bytes;
  const char* name; /* lives as long as the kernel's handle */
  uint32_t static_shared_bytes, most_threads, registers;
  uint32_t parameter_count;
  const uint32_t* parameter_bytes;
} trine_kernel_info;

typedef struct trine_launch_shape {
  size_t struct_bytes;
  uint32_t grid[3], block[3]; /* 0 is 1 */
  uint32_t shared_bytes;
  int32_t cooperative;
} trine_launch_shape;

trine_status trine_kernel_get(const trine_module* module, const char* name, trine_kernel** kernel);
void trine_kernel_destroy(trine_kernel* kernel);
trine_status trine_kernel_get_info(const trine_kernel* kernel, trine_kernel_info* info);
/* arguments[i] points at argument i; `bytes`, when not null, are their sizes, to be compared with the parameters'. */
trine_status trine_kernel_launch(const trine_kernel* kernel, trine_stream* stream, const trine_launch_shape* shape,
                                 const void* const* arguments, const uint32_t* bytes, size_t count);

/* Graphs: what a stream is given between begin and end. */
trine_status trine_capture_begin(trine_stream* stream);
trine_status trine_capture_end(trine_stream* stream, trine_graph** graph);
void trine_graph_destroy(trine_graph* graph);
trine_status trine_graph_launch(const trine_graph* graph, trine_stream* stream);
size_t trine_graph_kernel_count(const trine_graph* graph);
trine_status trine_graph_update(trine_graph* graph, size_t index, const trine_launch_shape* shape,
                                const void* const* arguments, const uint32_t* bytes, size_t count);

#ifdef __cplusplus
}
#endif

#endif

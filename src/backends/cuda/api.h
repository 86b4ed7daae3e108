// The CUDA driver's interface as far as it is used here: types, constants and functions, declared by ourselves after
// NVIDIA's CUDA Driver API reference, so that no toolkit is needed to build. Names are the driver's without `cu`.
// Functions are those of CUDA 12.0; versions that replaced older ones (`_v2`) are named in driver.cc.
#pragma once

#include <cstddef>
#include <cstdint>

namespace trine::cuda {

using Result = int;
using DeviceId = int;
using DevicePointer = uint64_t;
using Context = struct ContextObject*;
using Module = struct ModuleObject*;
using Function = struct FunctionObject*;
using StreamId = struct StreamObject*;
using EventId = struct EventObject*;
using Pool = struct PoolObject*;
using GraphId = struct GraphObject*;
using GraphNode = struct GraphNodeObject*;
using GraphExec = struct GraphExecObject*;
using ArrayId = struct ArrayObject*;
using MipmapId = struct MipmapObject*;

enum : Result {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kEccUncorrectable = 214,
  kInvalidPtx = 218,
  kUnsupportedPtx = 222,
  kNotReady = 600,
  kNotFound = 500,
  kIllegalAddress = 700,
  kLaunchOutOfResources = 701,
  kLaunchTimeout = 702,
  kContextDestroyed = 709,
  kAssert = 710,
  kAlreadyRegistered = 712,
  kNotRegistered = 713,
  kStackError = 714,
  kIllegalInstruction = 715,
  kMisaligned = 716,
  kAddressSpace = 717,
  kInvalidCounter = 718,
  kLaunchFailed = 719,
  kCooperativeTooLarge = 720,
  kNotSupported = 801,
  kSystemNotReady = 802,
  kDriverMismatch = 803,
  kFirstCapture = 900,  // to 908: mistakes in the capture of streams
  kCaptureUnjoined = 904,
  kLastCapture = 908,
};

enum DeviceAttribute : int {
  kThreadsPerBlock = 1,
  kBlockX = 2,  // and y, z
  kGridX = 5,   // and y, z
  kConstantBytes = 9,
  kWarpThreads = 10,
  kRegistersPerBlock = 12,
  kMultiprocessors = 16,
  kCacheBytes = 38,
  kMajor = 75,
  kMinor = 76,
  kCooperative = 95,
  kSharedBytesOptIn = 97,
  kPoolsSupported = 115,
};

enum FunctionAttribute : int {
  kMostThreads = 0,
  kStaticShared = 1,
  kRegisters = 4,
  kMostDynamicShared = 8,
};

enum JitOption : int {
  kInfoLog = 3,
  kInfoLogBytes = 4,
  kErrorLog = 5,
  kErrorLogBytes = 6,
  kDebugInfo = 11,
  kLineInfo = 13
};

constexpr unsigned kStreamNonBlocking = 1;  // does not wait for the default stream
constexpr unsigned kHostPortable = 1;       // pinned for every context
constexpr unsigned kHostMapped = 2;         // kernels may touch it
constexpr unsigned kHostReadOnly = 8;       // and do not write it; of registered memory
constexpr int kCaptureRelaxed = 2;          // other calls of this thread are not looked at
constexpr int kPoolKeepBytes = 4;           // CU_MEMPOOL_ATTR_RELEASE_THRESHOLD
constexpr int kCaptureActive = 1;

// CUDA_KERNEL_NODE_PARAMS_v2
struct KernelNode {
  Function function;
  unsigned grid[3], block[3], shared_bytes;
  void** arguments;
  void** extra;
  void* kernel;
  Context context;
};

// CUDA_ARRAY3D_DESCRIPTOR_v2
struct ArrayDescriptor {
  size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
enum ArrayFlag : unsigned { kLayered = 1, kSurfaceLoadStore = 2, kCubemap = 4, kTextureGather = 8 };

enum MemoryType : int { kHostMemory = 1, kDeviceMemory = 2, kArrayMemory = 3 };

// CUDA_MEMCPY3D_v2. A slice has `rows` rows of `row_bytes`.
struct CopyEnd {
  size_t x, y, z, level;
  MemoryType type;
  const void* host;
  DevicePointer device;
  ArrayId array;
  void* reserved;
  size_t row_bytes, rows;
};
struct Copy3d {
  CopyEnd from, to;
  size_t width_bytes, height, depth;
};

// CUDA_RESOURCE_DESC_v1
struct ResourceDescriptor {
  int type;  // 0 array, 1 mipmaps, 2 linear, 3 rows with a pitch
  union {
    ArrayId array;
    MipmapId mipmap;
    struct {
      DevicePointer memory;
      int format;
      unsigned channels;
      size_t bytes;
    } linear;
    struct {
      DevicePointer memory;
      int format;
      unsigned channels;
      size_t width, height, row_bytes;
    } rows;
    int reserved[32];
  };
  unsigned flags;
};

// CUDA_TEXTURE_DESC_v1
struct TextureDescriptor {
  int address[3], filter;
  unsigned flags, anisotropy;
  int level_filter;
  float level_bias, lowest_level, highest_level, border[4];
  int reserved[12];
};
enum TextureFlag : unsigned { kReadAsInteger = 1, kNormalizedCoordinates = 2, kSrgb = 0x10, kSeamlessCubemap = 0x40 };

// CUlaunchAttribute, of those that are used, and CUlaunchConfig
enum LaunchAttributeId : int { kAttributeCluster = 4, kAttributeOverlap = 6 };
struct LaunchAttribute {
  LaunchAttributeId id;
  int unused;
  union {
    unsigned cluster[3];
    int overlap;
    char room[64];
  };
};
struct LaunchConfig {
  unsigned grid[3], block[3], shared_bytes;
  StreamId stream;
  LaunchAttribute* attributes;
  unsigned count;
};

// CUtensorMap
struct alignas(64) TensorMap {
  uint64_t words[16];
};

struct Api {
  Result (*init)(unsigned flags);
  Result (*driver_version)(int* version);
  Result (*error_name)(Result, const char** name);
  Result (*error_string)(Result, const char** text);

  Result (*device_count)(int* count);
  Result (*device_get)(DeviceId* device, int ordinal);
  Result (*device_name)(char* name, int bytes, DeviceId device);
  Result (*device_attribute)(int* value, DeviceAttribute attribute, DeviceId device);
  Result (*device_memory)(size_t* bytes, DeviceId device);
  Result (*device_pool)(Pool* pool, DeviceId device);
  Result (*pool_set)(Pool pool, int attribute, void* value);
  Result (*pool_trim)(Pool pool, size_t keep_bytes);

  Result (*primary_retain)(Context* context, DeviceId device);
  Result (*context_get)(Context* context);
  Result (*context_set)(Context context);
  Result (*priority_range)(int* least, int* greatest);

  Result (*memory_info)(size_t* free, size_t* total);
  Result (*memory_allocate)(DevicePointer* memory, size_t bytes);
  Result (*memory_free)(DevicePointer memory);
  Result (*memory_allocate_async)(DevicePointer* memory, size_t bytes, StreamId stream);
  Result (*memory_free_async)(DevicePointer memory, StreamId stream);
  Result (*host_allocate)(void** memory, size_t bytes, unsigned flags);
  Result (*host_free)(void* memory);
  Result (*host_register)(void* memory, size_t bytes, unsigned flags);
  Result (*host_unregister)(void* memory);
  Result (*host_address)(DevicePointer* address, void* memory, unsigned flags);
  Result (*copy_to_device)(DevicePointer to, const void* from, size_t bytes, StreamId stream);
  Result (*copy_to_host)(void* to, DevicePointer from, size_t bytes, StreamId stream);
  Result (*copy_on_device)(DevicePointer to, DevicePointer from, size_t bytes, StreamId stream);
  Result (*copy_3d)(const Copy3d* copy, StreamId stream);
  Result (*copy_peer)(DevicePointer to, Context to_context, DevicePointer from, Context from_context, size_t bytes,
                      StreamId stream);
  Result (*fill)(DevicePointer to, unsigned char value, size_t bytes, StreamId stream);

  Result (*stream_create)(StreamId* stream, unsigned flags, int priority);
  Result (*stream_destroy)(StreamId stream);
  Result (*stream_synchronize)(StreamId stream);
  Result (*stream_query)(StreamId stream);
  Result (*stream_wait)(StreamId stream, EventId event, unsigned flags);
  Result (*host_call)(StreamId stream, void (*function)(void*), void* argument);
  Result (*event_create)(EventId* event, unsigned flags);
  Result (*event_destroy)(EventId event);
  Result (*event_record)(EventId event, StreamId stream);
  Result (*event_synchronize)(EventId event);
  Result (*event_query)(EventId event);
  Result (*event_milliseconds)(float* milliseconds, EventId begin, EventId end);

  Result (*module_load)(Module* module, const void* image, unsigned count, JitOption* options, void** values);
  Result (*module_unload)(Module module);
  Result (*module_function)(Function* function, Module module, const char* name);
  Result (*module_global)(DevicePointer* memory, size_t* bytes, Module module, const char* name);
  Result (*function_get)(int* value, FunctionAttribute attribute, Function function);
  Result (*function_set)(Function function, FunctionAttribute attribute, int value);
  Result (*most_blocks)(int* blocks, Function function, int threads, size_t shared_bytes);  // of a multiprocessor
  Result (*launch)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamId stream, void** arguments,
                   void** extra);
  Result (*launch_cooperative)(Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                               unsigned block_y, unsigned block_z, unsigned shared_bytes, StreamId stream,
                               void** arguments);
  Result (*launch_configured)(const LaunchConfig* config, Function function, void** arguments, void** extra);
  Result (*tensor_map_tiled)(TensorMap* map, int type, unsigned rank, void* address, const uint64_t* dims,
                             const uint64_t* strides, const unsigned* box, const unsigned* element_strides,
                             int interleave, int swizzle, int l2_promotion, int fill);
  Result (*tensor_map_im2col)(TensorMap* map, int type, unsigned rank, void* address, const uint64_t* dims,
                              const uint64_t* strides, const int* lower_corner, const int* upper_corner,
                              unsigned channels, unsigned pixels, const unsigned* element_strides, int interleave,
                              int swizzle, int l2_promotion, int fill);

  Result (*capture_begin)(StreamId stream, int mode);
  Result (*capture_end)(StreamId stream, GraphId* graph);
  Result (*capture_info)(StreamId stream, int* status, uint64_t* id, GraphId* graph, const GraphNode** last,
                         size_t* count);
  Result (*graph_instantiate)(GraphExec* exec, GraphId graph, unsigned long long flags);
  Result (*graph_launch)(GraphExec exec, StreamId stream);
  Result (*graph_update_kernel)(GraphExec exec, GraphNode node, const KernelNode* parameters);
  Result (*graph_destroy)(GraphId graph);
  Result (*graph_exec_destroy)(GraphExec exec);

  Result (*array_create)(ArrayId* array, const ArrayDescriptor* descriptor);
  Result (*array_destroy)(ArrayId array);
  Result (*mipmap_create)(MipmapId* mipmap, const ArrayDescriptor* descriptor, unsigned levels);
  Result (*mipmap_level)(ArrayId* array, MipmapId mipmap, unsigned level);
  Result (*mipmap_destroy)(MipmapId mipmap);
  Result (*texture_create)(uint64_t* texture, const ResourceDescriptor* resource, const TextureDescriptor* texture_of,
                           const void* view);
  Result (*texture_destroy)(uint64_t texture);
  Result (*surface_create)(uint64_t* surface, const ResourceDescriptor* resource);
  Result (*surface_destroy)(uint64_t surface);
};

}  // namespace trine::cuda

// Modules, kernels, programs, graphs.
#include "compute/c/handles.h"

namespace trine::compute::c {
namespace {

Dim3 dim_of(const uint32_t (&d)[3]) { return {d[0] ? d[0] : 1, d[1] ? d[1] : 1, d[2] ? d[2] : 1}; }

CompileOptions options_of(const trine_compile_options* given, const char* call) {
  CompileOptions o;
  if (!given) return o;
  need_struct(given, call, "options");
  if (given->mode < TRINE_MODE_AUTOMATIC || given->mode > TRINE_MODE_THREADS)
    throw Error(ErrorCode::invalid_argument,
                fmt::format("{}: mode {}; accepted are those of trine_cpu_mode", call, int{given->mode}));
  if (given->name) o.name = given->name;
  o.include_dirs = texts(given->include_dirs, given->include_dir_count, call, "an include folder");
  o.defines = texts(given->defines, given->define_count, call, "a define");
  o.instances = texts(given->instances, given->instance_count, call, "an instance");
  o.checks = texts(given->checks, given->check_count, call, "a check");
  if (given->standard) o.standard = given->standard;
  o.debug = given->debug;
  o.fast_math = given->fast_math;
  o.whole_program = given->whole_program;
  o.mode = static_cast<CpuMode>(given->mode);
  return o;
}

trine_module* handle_of(Module module) {
  std::vector<std::string> kernels = module.kernels();
  return new trine_module{std::move(module), std::move(kernels)};
}

const void* const kNone[] = {nullptr};

// The checks of layer 1 compare sizes; they do not look for nulls.
const void* const* need_arguments(const void* const* arguments, size_t count, const char* call) {
  if (!count) return kNone;
  need(arguments, call, "arguments");
  for (size_t i = 0; i < count; ++i) need(arguments[i], call, "an argument");
  return arguments;
}

}  // namespace

LaunchShape shape_of(const trine_launch_shape* shape, const char* call) {
  if (!shape) return {};
  need_struct(shape, call, "shape");
  return {dim_of(shape->grid), dim_of(shape->block), shape->shared_bytes, shape->cooperative != 0};
}

}  // namespace trine::compute::c

using namespace trine::compute::c;
using trine::compute::Module;

extern "C" {

trine_status trine_module_compile(const trine_device* device, const char* source, const trine_compile_options* options,
                                  trine_module** module) {
  return call([&] {
    constexpr const char* kCall = "trine_module_compile";
    need(device, kCall, "device");
    need(source, kCall, "source");
    need(module, kCall, "module");
    *module = handle_of(Module::compile(device->value, source, options_of(options, kCall)));
  });
}

trine_status trine_module_load(const trine_device* device, const void* program, size_t bytes, trine_module** module) {
  return call([&] {
    constexpr const char* kCall = "trine_module_load";
    need(device, kCall, "device");
    need(program, kCall, "program");
    need(module, kCall, "module");
    *module = handle_of(Module::load(device->value, {static_cast<const char*>(program), bytes}));
  });
}

void trine_module_destroy(trine_module* module) { delete module; }
size_t trine_module_kernel_count(const trine_module* module) { return module ? module->kernels.size() : 0; }
const char* trine_module_kernel_name(const trine_module* module, size_t index) {
  return module && index < module->kernels.size() ? module->kernels[index].c_str() : nullptr;
}

trine_status trine_module_variable(const trine_module* module, const char* name, void** address, size_t* bytes) {
  return call([&] {
    constexpr const char* kCall = "trine_module_variable";
    need(module, kCall, "module");
    need(name, kCall, "name");
    need(address, kCall, "address");
    const Module::Variable found = module->value.variable(name);
    *address = found.address;
    if (bytes) *bytes = found.bytes;
  });
}

trine_status trine_program_compile(const char* source, const trine_compile_options* options,
                                   const char* const* architectures, size_t architecture_count,
                                   trine_program** program) {
  return call([&] {
    constexpr const char* kCall = "trine_program_compile";
    need(source, kCall, "source");
    need(program, kCall, "program");
    const auto names = texts(architectures, architecture_count, kCall, "an architecture");
    *program = new trine_program{trine::compute::compile_program(source, options_of(options, kCall), names)};
  });
}

void trine_program_destroy(trine_program* program) { delete program; }
const void* trine_program_data(const trine_program* program) { return program ? program->value.bytes.data() : nullptr; }
size_t trine_program_bytes(const trine_program* program) { return program ? program->value.bytes.size() : 0; }

trine_status trine_kernel_get(const trine_module* module, const char* name, trine_kernel** kernel) {
  return call([&] {
    constexpr const char* kCall = "trine_kernel_get";
    need(module, kCall, "module");
    need(name, kCall, "name");
    need(kernel, kCall, "kernel");
    trine::compute::Kernel found = module->value.kernel(name);
    auto properties = found.properties();
    *kernel = new trine_kernel{std::move(found), std::move(properties)};
  });
}

void trine_kernel_destroy(trine_kernel* kernel) { delete kernel; }

trine_status trine_kernel_get_info(const trine_kernel* kernel, trine_kernel_info* info) {
  return call([&] {
    need(kernel, "trine_kernel_get_info", "kernel");
    need_struct(info, "trine_kernel_get_info", "info");
    const auto& p = kernel->properties;
    *info = {info->struct_bytes,      p.name.c_str(), p.static_shared_bytes,
             p.most_threads,          p.registers,    static_cast<uint32_t>(p.parameter_bytes.size()),
             p.parameter_bytes.data()};
  });
}

trine_status trine_kernel_launch(const trine_kernel* kernel, trine_stream* stream, const trine_launch_shape* shape,
                                 const void* const* arguments, const uint32_t* bytes, size_t count) {
  return call([&] {
    constexpr const char* kCall = "trine_kernel_launch";
    need(kernel, kCall, "kernel");
    need(stream, kCall, "stream");
    kernel->value.launch_raw(stream->value, shape_of(shape, kCall), need_arguments(arguments, count, kCall), bytes,
                             count);
  });
}

trine_status trine_capture_begin(trine_stream* stream) {
  return call([&] {
    need(stream, "trine_capture_begin", "stream");
    stream->value.begin_capture();
  });
}

trine_status trine_capture_end(trine_stream* stream, trine_graph** graph) {
  return call([&] {
    need(stream, "trine_capture_end", "stream");
    need(graph, "trine_capture_end", "graph");
    *graph = new trine_graph{stream->value.end_capture()};
  });
}

void trine_graph_destroy(trine_graph* graph) { delete graph; }
size_t trine_graph_kernel_count(const trine_graph* graph) { return graph ? graph->value.kernels() : 0; }

trine_status trine_graph_launch(const trine_graph* graph, trine_stream* stream) {
  return call([&] {
    need(graph, "trine_graph_launch", "graph");
    need(stream, "trine_graph_launch", "stream");
    graph->value.launch(stream->value);
  });
}

trine_status trine_graph_update(trine_graph* graph, size_t index, const trine_launch_shape* shape,
                                const void* const* arguments, const uint32_t* bytes, size_t count) {
  return call([&] {
    constexpr const char* kCall = "trine_graph_update";
    need(graph, kCall, "graph");
    graph->value.update_raw(index, shape_of(shape, kCall), need_arguments(arguments, count, kCall), bytes, count);
  });
}

}  // extern "C"

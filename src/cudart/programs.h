// What executables register before main(): the device code that they carry, and which function or variable of theirs
// stands for which of its. Code is loaded when it is first needed, for the device that needs it.
#pragma once

#include "cudart/state.h"
#include "simt/run/program.h"

namespace trine::cudart {

struct Kernel {
  compute::KernelHandle handle;
  const simt::KernelInfo* info;
};

bool carries_gpu_code();  // one of the programs has PTX
// By the address of the stub that the host calls; on the current device. Throws
// Failure{cudaErrorInvalidDeviceFunction}.
Kernel kernel_of(const void* function);
// By the address of the host's shadow. Throws Failure{cudaErrorInvalidSymbol}.
compute::Module::Variable variable_of(const void* symbol);

// A module that is loaded by hand, of compile_program()'s bytes, which are copied. Throws
// Failure{cudaErrorInvalidKernelImage}, {cudaErrorSymbolNotFound}.
void* load_module(const void* image);
const void* function_of_module(void* module, const std::string& name);  // launched as the host's stubs are
compute::Module::Variable variable_of_module(void* module, const std::string& name);

// Variables that are __managed__ have an address on the host and one on the device: values go there before a kernel,
// and come back when it is waited for.
void send_managed(int device, compute::StreamHandle stream);
void fetch_managed(int device);

}  // namespace trine::cudart

// The device's part of a program as bytes: the "fat binary" of executables that `trine cc` makes.
//
// A title, the bytes that follow it and their hash, then numbers and texts as in encode.h: options that matter when
// code is made, bitcode, what it holds, and PTX for some GPUs (empty texts for a unit, which is linked first). All of
// it comes from within a program that somebody built, but a linker script or a stripped file may damage it: what does
// not hold together is refused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simt/device_module.h"
#include "trine/compute/module.h"

namespace trine::simt {

struct PtxText {
  std::string architecture;  // "sm_90"
  std::string text;
};

struct Program {
  compute::CompileOptions options;  // name, debug, fast_math, mode, unit and checks
  DeviceModule module;
  std::vector<PtxText> ptx;
};

std::string encode_program(const Program& program);
// `bytes` may go on after the program. Throws Error{invalid_argument}.
Program decode_program(std::string_view bytes);
// Of a program that somebody else keeps in memory: as long as its title says. Throws Error{invalid_argument}.
std::string_view program_at(const void* address);

}  // namespace trine::simt

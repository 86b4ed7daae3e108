// The code behind reads of textures and surfaces: calls that the device headers leave open.
#pragma once

namespace llvm {
class Module;
}

namespace trine::simt {

// For GPUs instructions, for the CPU functions that look into the TextureView of the object.
void link_texture_runtime(llvm::Module& module, bool gpu);

}  // namespace trine::simt

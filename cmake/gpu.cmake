# libtrine_gpu: kernels in CUDA C++ for what engines and primitives compute, and engines on devices that run them.
file(GLOB device_kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/cuda/kernels/*)
set(device_texts ${GENERATED_DIR}/device_kernels.cc)
add_custom_command(OUTPUT ${device_texts}
                   COMMAND ${CMAKE_COMMAND} -DTO=${device_texts} -DFOLDER=${PROJECT_SOURCE_DIR}/src/backends/cuda/kernels
                           -P ${PROJECT_SOURCE_DIR}/cmake/embed_kernels.cmake
                   DEPENDS ${device_kernels} ${PROJECT_SOURCE_DIR}/cmake/embed_kernels.cmake)
file(GLOB_RECURSE gpu_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/codegen/cuda/*.cc
     ${PROJECT_SOURCE_DIR}/src/backends/cuda/rows/*.cc ${PROJECT_SOURCE_DIR}/src/backends/cuda/providers/*.cc
     ${PROJECT_SOURCE_DIR}/src/plan/device/*.cc)
add_library(gpu_objects OBJECT ${gpu_sources} ${device_texts} src/compute/device_launch.cc src/compute/device_code.cc src/dnn/device_operands.cc src/dnn/device_row.cc
            src/dnn/measure_device.cc)
target_precompile_headers(gpu_objects PRIVATE <algorithm> <cmath> <functional> <map> <memory> <optional> <string>
                          <string_view> <variant> <vector> <fmt/format.h>)
add_library(trine_gpu SHARED)
target_link_libraries(trine_gpu PRIVATE gpu_objects ${CMAKE_DL_LIBS} PUBLIC trine_compute)
# Its rows register themselves: it is needed though nothing of it were called by name.
target_link_options(trine_gpu INTERFACE -Wl,--no-as-needed)
target_link_options(trine_gpu PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(trine_gpu PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map INSTALL_RPATH "$ORIGIN")
if(TARGET trine_simt)
  add_dependencies(trine_gpu trine_simt)  # opened at run time
endif()

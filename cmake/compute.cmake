# libtrine_compute: kernels in CUDA C++, launched on the CPU or a GPU. libtrine_simt: the compiler that it opens.
trine_objects(compute_objects simt/run)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/cuda/*.cc)
target_sources(compute_objects PRIVATE ${cuda_sources})
target_sources(compute_objects PRIVATE src/compute/graph.cc src/compute/kernel_table.cc src/compute/module.cc)
# Compiled kernels that lie in caches are those of this compiler.
file(GLOB_RECURSE compiler_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/simt/compile/* ${PROJECT_SOURCE_DIR}/src/simt/headers/*
     ${PROJECT_SOURCE_DIR}/src/simt/device_module.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${compiler_files})
foreach(file ${compiler_files})
  file(SHA256 ${file} hash)
  string(APPEND compiler_hashes ${hash})
endforeach()
string(SHA256 compiler_stamp "${PROJECT_VERSION} ${compiler_hashes}")
set_source_files_properties(src/simt/run/cache_key.cc PROPERTIES COMPILE_DEFINITIONS TRINE_SIMT_STAMP="${compiler_stamp}")
add_library(trine_compute SHARED)
target_link_libraries(trine_compute PRIVATE compute_objects ${CMAKE_DL_LIBS} PUBLIC trine_rt)
# Its backends register themselves: it is needed though nothing of it were called by name.
target_link_options(trine_compute INTERFACE -Wl,--no-as-needed)

file(GLOB_RECURSE simt_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/simt/compile/*.cc)
if(TRINE_LLVM AND simt_sources)
  find_package(Clang REQUIRED CONFIG HINTS /usr/lib/llvm-22)
  add_library(trine_simt MODULE ${simt_sources})
  target_include_directories(trine_simt SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
  target_compile_definitions(trine_simt PRIVATE ${LLVM_DEFINITIONS})
  target_compile_options(trine_simt PRIVATE -fno-rtti)  # as Debian builds LLVM
  target_link_libraries(trine_simt PRIVATE trine_rt LLVM clang-cpp)
  target_link_directories(trine_simt PRIVATE ${LLVM_LIBRARY_DIRS})
endif()

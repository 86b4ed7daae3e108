# libtrine_compute: kernels in CUDA C++, launched on the CPU or a GPU. libtrine_simt: the compiler that it opens.
trine_objects(compute_objects simt/check simt/run)
file(GLOB cuda_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/cuda/*.cc)
file(GLOB profile_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/compute/profile/*.cc)
target_sources(compute_objects PRIVATE ${cuda_sources} ${profile_sources})
set_source_files_properties(src/compute/profile/clock.cc src/compute/profile/names.cc src/compute/profile/recorder.cc
                            PROPERTIES COMPILE_OPTIONS "${TRINE_FAST_FLAG}" SKIP_PRECOMPILE_HEADERS ON)
target_sources(compute_objects PRIVATE src/compute/graph.cc src/compute/kernel_table.cc src/compute/module.cc
               src/compute/texture.cc src/compute/texture_check.cc)
file(GLOB c_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/compute/c/*.cc)
target_sources(compute_objects PRIVATE ${c_sources})
set_source_files_properties(src/compute/c/device.cc PROPERTIES COMPILE_DEFINITIONS TRINE_VERSION="${PROJECT_VERSION}")
# Compiled kernels that lie in caches are those of this compiler.
file(GLOB_RECURSE compiler_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/simt/compile/* ${PROJECT_SOURCE_DIR}/src/simt/headers/*
     ${PROJECT_SOURCE_DIR}/src/simt/device_module.h ${PROJECT_SOURCE_DIR}/src/simt/run/abi.h)
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
target_link_options(trine_compute PRIVATE -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(trine_compute PROPERTIES LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)

# Commands for gdb, by the name under which it looks for them beside the library.
file(GENERATE OUTPUT ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libtrine_compute.so.${PROJECT_VERSION}-gdb.py
     INPUT ${PROJECT_SOURCE_DIR}/tools/gdb/trine.py)

# libtrine_cudart: the CUDA runtime API, for what `trine cc` builds.
trine_objects(cudart_objects cudart)
target_include_directories(cudart_objects SYSTEM PRIVATE src/simt/headers)
add_library(trine_cudart SHARED)
target_link_libraries(trine_cudart PRIVATE cudart_objects PUBLIC trine_compute)

file(GLOB_RECURSE simt_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/simt/compile/*.cc)
if(TRINE_LLVM AND simt_sources)
  find_package(Clang REQUIRED CONFIG HINTS /usr/lib/llvm-22)
  # Kernels need no header files on disk: the module holds ours and those of the compiler.
  set(clang_resources ${CLANG_INSTALL_PREFIX}/lib/clang/${LLVM_VERSION_MAJOR})
  file(GLOB clang_headers RELATIVE ${clang_resources}/include
       ${clang_resources}/include/std*.h ${clang_resources}/include/__std*.h ${clang_resources}/include/__float_*.h)
  list(APPEND clang_headers float.h limits.h inttypes.h iso646.h)
  list(JOIN clang_headers "," clang_headers)
  file(GLOB_RECURSE device_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/simt/headers/*)
  set(simt_headers ${GENERATED_DIR}/simt_headers.cc)
  add_custom_command(OUTPUT ${simt_headers}
                     COMMAND ${CMAKE_COMMAND} -DTO=${simt_headers} -DDEVICE=${PROJECT_SOURCE_DIR}/src/simt/headers
                             -DCLANG=${clang_resources} -DFROM_CLANG=${clang_headers}
                             -P ${PROJECT_SOURCE_DIR}/cmake/embed_headers.cmake
                     DEPENDS ${device_headers} ${PROJECT_SOURCE_DIR}/cmake/embed_headers.cmake)
  add_library(trine_simt MODULE ${simt_sources} src/simt/run/encode.cc ${simt_headers})
  target_include_directories(trine_simt SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS} ${CLANG_INCLUDE_DIRS})
  target_compile_definitions(trine_simt PRIVATE ${LLVM_DEFINITIONS})
  target_compile_options(trine_simt PRIVATE -fno-rtti)  # as Debian builds LLVM
  target_link_libraries(trine_simt PRIVATE trine_rt LLVM clang-cpp)
  target_link_directories(trine_simt PRIVATE ${LLVM_LIBRARY_DIRS})
endif()

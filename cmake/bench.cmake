# bench_dnn. The reader of problem lists and the report are tested, so they are a library of their own.
add_library(bench_lists STATIC bench/dnn/batch_file.cc bench/dnn/cases.cc bench/dnn/descriptor.cc bench/dnn/entry.cc
            bench/dnn/number_types.cc bench/dnn/options.cc bench/dnn/report.cc bench/dnn/tensors.cc bench/dnn/to_problem.cc bench/dnn/totals.cc)
target_include_directories(bench_lists PUBLIC bench/dnn)
target_link_libraries(bench_lists PUBLIC trine_dnn)
target_compile_definitions(bench_lists PRIVATE TRINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")

add_executable(bench_dnn bench/dnn/main.cc bench/dnn/measure_entry.cc bench/dnn/operands.cc
               bench/dnn/ours.cc bench/dnn/peak.cc bench/dnn/peer.cc bench/dnn/rounds.cc)
target_link_libraries(bench_dnn PRIVATE bench_lists)

# oneDNN from PyPI (scripts/requirements-bench.txt), to compare with. A module that bench_dnn opens: nothing else knows
# of it. Its libraries find each other only through the RPATH of who opens them.
set(ONEDNN_ROOT ${PROJECT_SOURCE_DIR}/.venv CACHE PATH "where include/oneapi/dnnl and lib/libdnnl.so.3 are")
if(NOT TRINE_SANITIZE AND EXISTS ${ONEDNN_ROOT}/include/oneapi/dnnl/dnnl.hpp AND EXISTS ${ONEDNN_ROOT}/lib/libdnnl.so.3)
  file(GLOB sources CONFIGURE_DEPENDS bench/dnn/onednn/*.cc)
  list(APPEND sources bench/dnn/operands.cc)
  add_library(bench_onednn MODULE EXCLUDE_FROM_ALL ${sources})
  set_target_properties(bench_onednn PROPERTIES PREFIX "" BUILD_RPATH ${ONEDNN_ROOT}/lib)
  target_include_directories(bench_onednn PRIVATE bench/dnn)
  target_include_directories(bench_onednn SYSTEM PRIVATE ${ONEDNN_ROOT}/include)
  target_link_libraries(bench_onednn PRIVATE trine_rt ${ONEDNN_ROOT}/lib/libdnnl.so.3)
  target_link_options(bench_onednn PRIVATE -Wl,--disable-new-dtags,--allow-shlib-undefined)
  add_dependencies(bench_dnn bench_onednn)
endif()

# The cost of launches on a GPU; needs one to run, none to build.
add_executable(bench_launch bench/compute/launch.cc)
target_link_libraries(bench_launch PRIVATE trine_compute ${CMAKE_DL_LIBS})

# Kernels in lanes beside vectors written by hand, one core.
add_executable(bench_lanes bench/compute/lanes.cc)
target_link_libraries(bench_lanes PRIVATE trine_compute)
target_compile_options(bench_lanes PRIVATE -Wno-psabi -Wno-ignored-attributes)

# The examples' kernels beside PoCL, which is opened at run time, and loops in C++, which are a module: they are made for
# the processor of the build, and nothing else of bench_compute may be.
find_package(CLI11 REQUIRED)
file(GLOB sources CONFIGURE_DEPENDS bench/compute/cases/*.cc)
foreach(name case compare loops main measure ours pocl report)
  list(APPEND sources bench/compute/${name}.cc)
endforeach()
file(GLOB texts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/compute/*.cu ${PROJECT_SOURCE_DIR}/examples/compute/support.h
     ${PROJECT_SOURCE_DIR}/bench/compute/opencl/*.cl)
list(JOIN texts "," text_files)
set(held_texts ${GENERATED_DIR}/bench_compute_texts.cc)
add_custom_command(OUTPUT ${held_texts}
                   COMMAND ${CMAKE_COMMAND} -DTO=${held_texts} -DNAMESPACE=trine::bench_compute -DFILES=${text_files}
                           -P ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake
                   DEPENDS ${texts} ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake)
add_executable(bench_compute ${sources} ${held_texts} bench/dnn/peak.cc bench/dnn/rounds.cc)
target_include_directories(bench_compute PRIVATE bench/compute bench/dnn)
target_link_libraries(bench_compute PRIVATE trine_compute CLI11::CLI11 ${CMAKE_DL_LIBS})
target_compile_definitions(bench_compute PRIVATE TRINE_BENCH_LOOPS="$<TARGET_FILE_DIR:bench_compute>/bench_loops.so")
if(TARGET trine_simt)
  add_dependencies(bench_compute trine_simt)  # opened at run time
endif()
find_package(OpenMP COMPONENTS CXX)
if(OpenMP_CXX_FOUND AND NOT TRINE_SANITIZE)
  file(GLOB sources CONFIGURE_DEPENDS bench/compute/loops/*.cc)
  add_library(bench_loops MODULE EXCLUDE_FROM_ALL ${sources})
  set(loop_flags -O3 -march=native -ffp-contract=fast -fno-math-errno -fno-trapping-math)
  list(JOIN loop_flags " " loop_flags_text)
  set_target_properties(bench_loops PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  target_compile_options(bench_loops PRIVATE ${loop_flags} -fvisibility=hidden)
  target_compile_definitions(bench_loops PRIVATE TRINE_LOOP_FLAGS="${loop_flags_text}")
  target_link_libraries(bench_loops PRIVATE OpenMP::OpenMP_CXX)
  add_dependencies(bench_compute bench_loops)
endif()

# What the profiler costs.
add_executable(bench_profile bench/compute/profile.cc)
target_link_libraries(bench_profile PRIVATE trine_compute)

# What the replay of graphs costs.
add_executable(bench_replay bench/compute/replay.cc)
target_link_libraries(bench_replay PRIVATE trine_compute)

# Times of kernels on a GPU: rows of contractions, other rows, loops.
add_library(gpu_bench STATIC bench/gpu/device_bench.cc)
target_link_libraries(gpu_bench PUBLIC trine_gpu trine_dnn trine)
foreach(name contractions rows loops)
  add_executable(bench_gpu_${name} bench/gpu/${name}.cc)
  target_link_libraries(bench_gpu_${name} PRIVATE gpu_bench)
endforeach()

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
add_executable(bench_launch EXCLUDE_FROM_ALL bench/compute/launch.cc)
target_link_libraries(bench_launch PRIVATE trine_compute ${CMAKE_DL_LIBS})

# Kernels in lanes beside vectors written by hand, one core.
add_executable(bench_lanes EXCLUDE_FROM_ALL bench/compute/lanes.cc)
target_link_libraries(bench_lanes PRIVATE trine_compute)
target_compile_options(bench_lanes PRIVATE -Wno-psabi -Wno-ignored-attributes)

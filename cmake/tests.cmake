# One GoogleTest program per folder of tests/unit, linked to the object files so that internals can be tested.
# `ninja tests` builds what ctest runs and nothing else; `ninja thread_tests` what meets threads.
find_package(GTest REQUIRED)
add_custom_target(tests)
add_custom_target(thread_tests)
set(RUNTIME_TESTS base compute dnn engine plan)  # these need libtrine_rt only
# What meets threads. Kernels here are written by hand or pretended: none need the compiler, which has no sanitizer.
set(THREAD_TESTS ${RUNTIME_TESTS} compute_cache compute_cuda compute_graph compute_profile compute_run cudart)
# Made-up operands of dnn problems and their oracles, for tests of rows on other devices.
add_library(row_oracles STATIC EXCLUDE_FROM_ALL tests/unit/dnn/check_rows.cc tests/unit/dnn/oracles.cc tests/unit/dnn/row_data.cc)
target_link_libraries(row_oracles PRIVATE GTest::gtest trine_dnn)
file(GLOB folders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/*)
foreach(folder ${folders})
  if(IS_DIRECTORY ${folder})
    file(GLOB sources CONFIGURE_DEPENDS ${folder}/*.cc)
    if(NOT TRINE_LLVM)  # what holds machine code to the interpreter
      list(FILTER sources EXCLUDE REGEX "codegen/(compiled|nest)_test")
    endif()
    get_filename_component(name ${folder} NAME)
    if(name MATCHES "^simt|^gpu_|^compute_kernels" AND NOT TARGET trine_simt)
      set(sources)  # nothing to test without the compiler
    endif()
    if(sources)
      add_executable(test_${name} ${sources})
      target_link_libraries(test_${name} PRIVATE GTest::gtest GTest::gtest_main)
      if(name IN_LIST RUNTIME_TESTS)
        target_link_libraries(test_${name} PRIVATE trine_rt)
        if(name STREQUAL "dnn")
          target_link_libraries(test_${name} PRIVATE trine_dnn)
        endif()
      elseif(name MATCHES "^compute_")
        target_link_libraries(test_${name} PRIVATE trine_compute)
        if(name STREQUAL "compute_profile")
          target_link_libraries(test_${name} PRIVATE nlohmann_json::nlohmann_json)
        endif()
        if(TARGET trine_simt)
          add_dependencies(test_${name} trine_simt)  # opened at run time
        endif()
      elseif(name MATCHES "^gpu_")
        target_link_libraries(test_${name} PRIVATE row_oracles trine_gpu trine_dnn trine)
      elseif(name STREQUAL "device_math")  # headers alone, against MPFR
        target_link_libraries(test_${name} PRIVATE mpfr gmp)
        target_compile_options(test_${name} PRIVATE -ffp-contract=off)
      elseif(name STREQUAL "cudart")
        target_link_libraries(test_${name} PRIVATE trine_cudart)
        target_include_directories(test_${name} SYSTEM PRIVATE ${PROJECT_SOURCE_DIR}/src/simt/headers)
      elseif(name MATCHES "^simt")
        target_link_libraries(test_${name} PRIVATE trine_compute)
        if(TARGET trine_simt)
          add_dependencies(test_${name} trine_simt)  # opened at run time
        endif()
      else()
        target_link_libraries(test_${name} PRIVATE trine trine_cli_parts)
      endif()
      add_dependencies(tests test_${name})
      if(name IN_LIST THREAD_TESTS)
        add_dependencies(thread_tests test_${name})
      endif()
      target_compile_definitions(test_${name} PRIVATE TRINE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
      if(TARGET trine_llvm AND name STREQUAL "codegen")
        add_dependencies(test_${name} trine_llvm)  # opened at run time
      endif()
      set(shards 1)
      if(name STREQUAL "dnn")
        set(shards 4)  # the longest by far: its parts share the cores
      endif()
      math(EXPR last "${shards} - 1")
      foreach(shard RANGE ${last})
        set(test ${name})
        if(shards GREATER 1)
          string(APPEND test _${shard})
        endif()
        add_test(NAME ${test} COMMAND test_${name})
        set_tests_properties(${test} PROPERTIES ENVIRONMENT "GTEST_TOTAL_SHARDS=${shards};GTEST_SHARD_INDEX=${shard};TRINE_CACHE=off")
        if(name IN_LIST THREAD_TESTS)
          set_tests_properties(${test} PROPERTIES LABELS threads)
        endif()
      endforeach()
    endif()
  endif()
endforeach()
# The backend cuda meets a driver that pretends, and one that lacks a function.
foreach(name fake_cuda lacking_cuda)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/compute_cuda/fake/*.cc)
  add_library(${name} SHARED ${sources})
endforeach()
target_compile_definitions(lacking_cuda PRIVATE FAKE_LACKS_CAPTURE_INFO)
add_dependencies(test_compute_cuda lacking_cuda)
target_link_libraries(test_compute_cuda PRIVATE fake_cuda)
target_compile_definitions(test_compute_cuda PRIVATE FAKE_DRIVER="$<TARGET_FILE:fake_cuda>"
                                                     LACKING_DRIVER="$<TARGET_FILE:lacking_cuda>")
if(TARGET test_gpu_code)
  target_link_libraries(test_gpu_code PRIVATE fake_cuda)
  target_compile_definitions(test_gpu_code PRIVATE FAKE_DRIVER="$<TARGET_FILE:fake_cuda>")
endif()
# The C ABI, from a program in C that sees nothing but its header: on the CPU, and on the driver that pretends.
enable_language(C)
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/c_api/*.c)
add_executable(test_c_api ${sources})
set_target_properties(test_c_api PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
target_compile_options(test_c_api PRIVATE -Wpedantic -Wstrict-prototypes -Werror)
target_link_libraries(test_c_api PRIVATE trine_compute)
add_dependencies(tests test_c_api fake_cuda)
if(TARGET trine_simt)
  add_dependencies(test_c_api trine_simt)  # opened at run time
  add_test(NAME c_api COMMAND test_c_api cpu)
  add_executable(example_scale examples/compute/scale.c)
  target_link_libraries(example_scale PRIVATE trine_compute)
  add_dependencies(example_scale trine_simt)
  add_dependencies(tests example_scale)
  add_test(NAME example_scale COMMAND example_scale)
  set_tests_properties(example_scale PROPERTIES PASS_REGULAR_EXPRESSION "^3 2997\n$")
else()
  add_test(NAME c_api COMMAND test_c_api cpu --no-kernels)
  # It asks for more than there is.
  set_tests_properties(c_api PROPERTIES ENVIRONMENT ASAN_OPTIONS=allocator_may_return_null=1)
endif()
add_test(NAME c_api_cuda COMMAND test_c_api cuda:0 --no-kernels)
set_tests_properties(c_api_cuda PROPERTIES ENVIRONMENT TRINE_CUDA_DRIVER=$<TARGET_FILE:fake_cuda>)
# Providers meet libraries that pretend, and vendors' own where TRINE_TEST_DEVICE is a GPU.
if(TARGET test_gpu_loops)
  target_sources(test_gpu_loops PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit/codegen/rows.cc)
endif()
if(TARGET test_gpu_providers)
  foreach(library cublaslt)
    string(TOUPPER ${library} upper)
    add_library(fake_${library} SHARED ${PROJECT_SOURCE_DIR}/tests/unit/gpu_providers/fake/${library}.cc)
    target_link_libraries(fake_${library} PRIVATE trine_rt)
    add_dependencies(test_gpu_providers fake_${library})
    target_compile_definitions(test_gpu_providers PRIVATE FAKE_${upper}="$<TARGET_FILE:fake_${library}>")
  endforeach()
endif()
# The doctor finds a GPU where the driver shows one, and nothing amiss where there is none.
add_dependencies(tests trine_cli fake_cuda)
add_test(NAME doctor_gpu COMMAND trine_cli doctor)
set_tests_properties(doctor_gpu PROPERTIES ENVIRONMENT TRINE_CUDA_DRIVER=$<TARGET_FILE:fake_cuda>
                     PASS_REGULAR_EXPRESSION "ok +nvidia driver +.*takes CUDA up to .*cuda:0 .*sm_.*cuBLASLt")
add_test(NAME doctor_no_gpu COMMAND trine_cli doctor)
set_tests_properties(doctor_no_gpu PROPERTIES ENVIRONMENT TRINE_CUDA_DRIVER=/nowhere/libcuda.so.1)
# The golden messages and the tests of commands write small ONNX models too.
foreach(name errors tools)
  target_sources(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit/import/model_builder.cc)
  target_include_directories(test_${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/unit/import)
endforeach()
target_link_libraries(test_bench_lists PRIVATE bench_lists)
add_dependencies(tests bench_dnn)
add_test(NAME bench_dnn COMMAND bench_dnn --list ${PROJECT_SOURCE_DIR}/tests/cases/bench/tiny --duration 0.002 --all)
set_tests_properties(bench_dnn PROPERTIES PASS_REGULAR_EXPRESSION "unsupported: softmax 4x8.*9 problems, 10 layers")
add_test(NAME bench_dnn_types COMMAND bench_dnn --list ${PROJECT_SOURCE_DIR}/tests/cases/bench/tiny --duration 0.002
                                      --dt f32,bf16,u8:s8:u8 --mb 2 --markdown)
set_tests_properties(bench_dnn_types PROPERTIES PASS_REGULAR_EXPRESSION "\\| tiny \\| u8:s8:u8 \\| 4 ")
if(TARGET trine_simt AND NOT TRINE_SANITIZE)
  add_dependencies(tests bench_compute)
  add_test(NAME bench_compute COMMAND bench_compute --small --against cxx --threads 1 --seconds 0)
endif()
find_program(PYTHON3 python3)
if(PYTHON3)
  add_test(NAME bench_models COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/unit/bench_lists/models_test.py)
endif()
# Hostile engine files are written with the schema itself.
target_include_directories(test_engine SYSTEM PRIVATE ${GENERATED_DIR})

# The ONNX backend node tests: tests/conformance/run.py writes the cases and runs this.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/conformance/*.cc)
if(sources)
  find_package(nlohmann_json REQUIRED)
  add_executable(run_node_tests ${sources})
  target_link_libraries(run_node_tests PRIVATE trine nlohmann_json::nlohmann_json)
endif()

# Random edge-value models of every operator, over the same cases.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/models/*.cc)
if(sources)
  set(parts cases.cc data.cc isolate.cc options.cc)
  list(TRANSFORM parts PREPEND tests/conformance/)
  add_executable(fuzz_models ${sources} ${parts})
  target_include_directories(fuzz_models PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(fuzz_models PRIVATE trine)
endif()

# libFuzzer targets, built and run by scripts/fuzz.sh.
option(TRINE_FUZZ "Build the fuzz targets (needs clang and TRINE_SANITIZE=fuzzer-no-link,...)" OFF)
if(TRINE_FUZZ)
  file(GLOB targets CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.cc)
  foreach(target ${targets})
    get_filename_component(name ${target} NAME_WE)
    add_executable(${name} ${target})
    target_link_libraries(${name} PRIVATE trine)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer,address,undefined)
  endforeach()
endif()

# libtrine_rt alone: an engine made by one program is loaded by another that links nothing else, on this machine's CPU
# level and with lesser ones.
add_executable(make_engine tests/runtime/make_engine.cc)
target_link_libraries(make_engine PRIVATE trine)
add_executable(run_engine tests/runtime/run_engine.cc)
target_link_libraries(run_engine PRIVATE trine_rt)
add_dependencies(tests make_engine run_engine)
set(RUNTIME_DIR ${PROJECT_BINARY_DIR}/runtime_test)
file(MAKE_DIRECTORY ${RUNTIME_DIR})
add_test(NAME runtime_make COMMAND make_engine ${RUNTIME_DIR})
set_tests_properties(runtime_make PROPERTIES FIXTURES_SETUP engine_file)
add_test(NAME runtime_same_machine COMMAND run_engine ${RUNTIME_DIR} matching)
add_test(NAME runtime_baseline COMMAND run_engine ${RUNTIME_DIR} replanned)
set_tests_properties(runtime_baseline PROPERTIES ENVIRONMENT TRINE_CPU=baseline)
set_tests_properties(runtime_same_machine runtime_baseline PROPERTIES FIXTURES_REQUIRED engine_file)

if(CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # clang makes a tenth more
  add_test(NAME runtime_lean
           COMMAND ${CMAKE_COMMAND} -DSTRIP=${CMAKE_STRIP} -DLIBRARY=$<TARGET_FILE:trine_rt>
                   -DPROGRAM=$<TARGET_FILE:run_engine> -DTO=${RUNTIME_DIR}/libtrine_rt.stripped.so
                   -P ${PROJECT_SOURCE_DIR}/tests/runtime/lean.cmake)
endif()

# Needs nothing but what it makes itself; fails when the gradients are not adjoint.
add_dependencies(tests convolution)
add_test(NAME example_convolution COMMAND convolution)

# What cmake --install leaves, used from outside: ctest -L install.
if(TRINE_INSTALL AND NOT TRINE_SANITIZE)
  find_program(PKG_CONFIG pkg-config REQUIRED)
  add_dependencies(tests trine_rt trine_dnn trine_compute trine trine_cli)
  foreach(module trine_llvm trine_simt)
    if(TARGET ${module})
      add_dependencies(tests ${module})
    endif()
  endforeach()
  add_test(NAME install
           COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${PROJECT_SOURCE_DIR}
                   -DWORK=${PROJECT_BINARY_DIR}/install_test -DGENERATOR=${CMAKE_GENERATOR} -DCXX=${CMAKE_CXX_COMPILER}
                   -DINSTALL_LIBDIR=${CMAKE_INSTALL_LIBDIR} -DCODE=$<IF:$<TARGET_EXISTS:trine_llvm>,[ab],none>
                   -DPKG_CONFIG=${PKG_CONFIG}
                   -P ${PROJECT_SOURCE_DIR}/tests/install/check.cmake)
  set_tests_properties(install PROPERTIES LABELS install)
endif()

# Programs that `trine cc` builds and that check themselves: `trine_cc_test(<name> <files> <flags> <output>)`.
find_program(CLANG22 NAMES clang++-22 PATHS /usr/lib/llvm-22/bin)
function(trine_cc_test name files flags expected)
  list(TRANSFORM files PREPEND ${PROJECT_SOURCE_DIR}/tests/cc/)
  list(JOIN files "," files)
  list(JOIN flags "," flags)
  add_test(NAME cc_${name}
           COMMAND ${CMAKE_COMMAND} -DTRINE=$<TARGET_FILE:trine_cli> -DFILES=${files} -DFLAGS=${flags}
                   -DTO=${PROJECT_BINARY_DIR}/cc_tests/${name} -DEXPECT=${expected} -P ${PROJECT_SOURCE_DIR}/tests/cc/run.cmake)
endfunction()
if(TARGET trine_simt AND CLANG22 AND NOT TRINE_SANITIZE)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/cc_tests)
  add_dependencies(tests trine_cli trine_cudart trine_simt)
  foreach(name algorithms atomics block_algorithms cooperative default_stream device_language driver_api failures graph_nodes graphs half lambdas matrix_multiply memory_kinds reduction streams symbols textures vector_add wmma)
    trine_cc_test(${name} ${name}.cu "-O2" "passed")
  endforeach()
  if(PYTHON3)
    add_test(NAME cc_profile COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/cc/profile_test.py $<TARGET_FILE:trine_cli>
                                     ${PROJECT_BINARY_DIR}/cc_tests/profile_files)
    add_test(NAME cc_separate COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/cc/separate_test.py $<TARGET_FILE:trine_cli>
                                      ${PROJECT_BINARY_DIR}/cc_tests/separate)
    # Kernels with planted faults, each found, and clean ones, none reported.
    add_test(NAME checks COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/simt/run.py $<TARGET_FILE:trine_cli>
                                 ${PROJECT_BINARY_DIR}/check_tests ${PROJECT_SOURCE_DIR}/tests/simt/planted
                                 ${PROJECT_SOURCE_DIR}/tests/simt/clean)
  endif()
  trine_cc_test(parts "parts.cu;parts_fill.cu" "-DFACTOR=2;-arch=sm_80;-rdc=true;--expt-relaxed-constexpr"
                "sum 5250 offset 1 factor 2\npassed")
  # Those with pictures write them beside themselves.
  file(GLOB examples CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/compute/*.cu)
  foreach(example ${examples})
    get_filename_component(name ${example} NAME_WE)
    set(arguments --small)
    file(STRINGS ${example} draws REGEX "stb_image_write.h")
    if(draws)
      list(APPEND arguments ${PROJECT_BINARY_DIR}/cc_tests/${name}.png)
    endif()
    list(JOIN arguments "," arguments)
    add_test(NAME example_compute_${name}
             COMMAND ${CMAKE_COMMAND} -DTRINE=$<TARGET_FILE:trine_cli> -DFILES=${example} -DFLAGS=-O2
                     -DARGUMENTS=${arguments} -DTO=${PROJECT_BINARY_DIR}/cc_tests/example_${name} -DEXPECT=[0-9]
                     -P ${PROJECT_SOURCE_DIR}/tests/cc/run.cmake)
  endforeach()
  # gdb in the kernels of a program; skipped where there is no gdb.
  add_test(NAME debugger
           COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/debugger/check.py --trine $<TARGET_FILE:trine_cli>
                   --script ${PROJECT_SOURCE_DIR}/tools/gdb/trine.py --work ${PROJECT_BINARY_DIR}/cc_tests/debugger)
  set_tests_properties(debugger PROPERTIES SKIP_RETURN_CODE 77)
endif()

# A worker that waits awake takes the core from tests that run beside it: half of the time of those that open many pools.
# The pool's own tests keep the usual wait.
get_property(names DIRECTORY PROPERTY TESTS)
list(REMOVE_ITEM names base)
foreach(name ${names})
  set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT TRINE_SPIN_US=20)
endforeach()
# The longest begin first, so that no core is idle at the end (seconds, roughly; ctest knows them from its second run on).
foreach(cost IN ITEMS compute_kernels=90 checks=50 gpu_contractions=48 gpu_rows=45 gpu_loops=34 simt_lanes=31 dnn_1=30
        cc_block_algorithms=29 cc_algorithms=22 dnn_3=20 dnn_2=20 build=20 device_math=20 dnn_0=15 gpu_engine=12 simt=12
        cc_separate=11 codegen=8 cases=8 install=7)
  string(REPLACE "=" ";" pair ${cost})
  list(GET pair 0 name)
  list(GET pair 1 seconds)
  if(name IN_LIST names)
    set_tests_properties(${name} PROPERTIES COST ${seconds})
  endif()
endforeach()

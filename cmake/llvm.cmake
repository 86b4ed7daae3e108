# libtrine_llvm: a module opened by libtrine when it must generate code.
file(GLOB_RECURSE llvm_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/codegen/llvm/*.cc)
if(llvm_sources)
  find_package(LLVM REQUIRED CONFIG HINTS /usr/lib/llvm-22)  # asking for 22 would refuse 22.1
  if(NOT LLVM_VERSION_MAJOR EQUAL 22)
    message(FATAL_ERROR "LLVM ${LLVM_PACKAGE_VERSION} found; LLVM 22 is needed (or configure with -DTRINE_LLVM=OFF)")
  endif()
  add_library(trine_llvm MODULE ${llvm_sources})
  target_include_directories(trine_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(trine_llvm PRIVATE ${LLVM_DEFINITIONS})
  target_link_libraries(trine_llvm PRIVATE trine_rt LLVM)
  target_link_directories(trine_llvm PRIVATE ${LLVM_LIBRARY_DIRS})
endif()

# What a device that runs engines must carry: libtrine_rt below 3,000,000 bytes without symbols, and no LLVM with it.
#   cmake -DSTRIP=strip -DLIBRARY=libtrine_rt.so -DPROGRAM=run_engine -DTO=copy.so -P lean.cmake
execute_process(COMMAND ${STRIP} -o ${TO} ${LIBRARY} COMMAND_ERROR_IS_FATAL ANY)
file(SIZE ${TO} bytes)
message("libtrine_rt: ${bytes} bytes stripped")
if(bytes GREATER_EQUAL 3000000)
  message(FATAL_ERROR "libtrine_rt: ${bytes} bytes; below 3000000 are wanted")
endif()
execute_process(COMMAND ldd ${PROGRAM} OUTPUT_VARIABLE needed COMMAND_ERROR_IS_FATAL ANY)
message("${needed}")
if(NOT needed MATCHES "libtrine_rt" OR needed MATCHES "LLVM|libtrine_llvm|not found")
  message(FATAL_ERROR "run_engine: libtrine_rt without LLVM is wanted")
endif()

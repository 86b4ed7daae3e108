# Installs into the build folder, moves the tree elsewhere, and uses it as a stranger would.
#   cmake -DBUILD=build -DSOURCE=. -DWORK=build/install_test -DGENERATOR=Ninja -DCXX=c++ -DINSTALL_LIBDIR=lib
#         -DCODE=[ab] -DPKG_CONFIG=pkg-config -P check.cmake
# CODE: what `trine inspect` says there of machine code: a CPU level (avx2, baseline), "none" without LLVM.
set(tree ${WORK}/moved)
set(here ${CMAKE_CURRENT_LIST_DIR})
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  cmake_parse_arguments(PARSE_ARGV 0 run "" "EXPECT" "COMMAND")
  execute_process(COMMAND ${run_COMMAND} OUTPUT_VARIABLE output ERROR_VARIABLE errors RESULT_VARIABLE status)
  if(NOT status EQUAL 0 OR NOT output MATCHES "${run_EXPECT}")
    message(FATAL_ERROR "${run_COMMAND}: status ${status}, wanted '${run_EXPECT}':\n${output}${errors}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/first)
file(RENAME ${WORK}/first ${tree})
run(COMMAND ${tree}/bin/trine --version EXPECT "^[0-9]+\\.[0-9]+\\.[0-9]+")

# Every public header, from the installed tree alone.
file(GLOB_RECURSE headers RELATIVE ${tree}/include ${tree}/include/trine/*.h)
file(GLOB_RECURSE written RELATIVE ${SOURCE}/include ${SOURCE}/include/trine/*.h)
if(NOT headers STREQUAL written)
  message(FATAL_ERROR "installed headers: ${headers}; wanted: ${written}")
endif()
list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"")
list(JOIN headers "\n" text)
file(WRITE ${WORK}/every_header.cc "${text}\n")

# find_package
run(COMMAND ${CMAKE_COMMAND} -S ${here}/consumer -B ${WORK}/consumer -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${tree}
            -DCMAKE_CXX_COMPILER=${CXX} -DEVERY_HEADER=${WORK}/every_header.cc)
run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/consumer)
run(COMMAND ${WORK}/consumer/consumer ${WORK}/relu.trn EXPECT "^0 0 2\n$")
run(COMMAND ${WORK}/consumer/run_only ${WORK}/relu.trn EXPECT "^4 0 6\n$")
run(COMMAND ${tree}/bin/trine inspect ${WORK}/relu.trn EXPECT "machine code for: ${CODE}")

# pkg-config
foreach(package trine trine-rt trine-dnn trine-compute)
  run(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${tree}/${INSTALL_LIBDIR}/pkgconfig ${PKG_CONFIG} --cflags --libs ${package}
      EXPECT "-ltrine_rt")
endforeach()
run(COMMAND ${CMAKE_COMMAND} -E env PKG_CONFIG_PATH=${tree}/${INSTALL_LIBDIR}/pkgconfig ${PKG_CONFIG} --cflags --libs trine)
separate_arguments(flags UNIX_COMMAND "${output}")
run(COMMAND ${CXX} -std=c++20 ${here}/consumer/main.cc -o ${WORK}/by_pkg_config ${flags})
run(COMMAND ${CMAKE_COMMAND} -E env LD_LIBRARY_PATH=${tree}/${INSTALL_LIBDIR} ${WORK}/by_pkg_config ${WORK}/again.trn EXPECT "^0 0 2\n$")

# add_subdirectory: configured, and one file compiled against it; the libraries are the same as before.
run(COMMAND ${CMAKE_COMMAND} -S ${here}/within -B ${WORK}/within -G ${GENERATOR} -DTRINE_SOURCE=${SOURCE} -DTRINE_LLVM=OFF
            -DCMAKE_CXX_COMPILER=${CXX})
if(GENERATOR STREQUAL "Ninja")
  run(COMMAND ${CMAKE_COMMAND} --build ${WORK}/within --target objects)
endif()
message("installed, moved, found and used")

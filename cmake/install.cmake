# cmake --install build --prefix X: libraries, public headers, the program, and what finds them (docs/install.md). Nothing of
# it names X: the tree may be moved.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Trine)

install(TARGETS trine_rt trine_dnn trine_compute trine_cudart trine_gpu trine EXPORT TrineTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES tools/gdb/trine.py DESTINATION ${CMAKE_INSTALL_LIBDIR} RENAME libtrine_compute.so.${PROJECT_VERSION}-gdb.py)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY include/trine DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET trine_llvm)  # opened by libtrine, which looks beside itself
  set_target_properties(trine_llvm PROPERTIES INSTALL_RPATH "$ORIGIN;${LLVM_LIBRARY_DIRS}")
  install(TARGETS trine_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET trine_simt)  # opened by libtrine_compute
  set_target_properties(trine_simt PROPERTIES INSTALL_RPATH "$ORIGIN;${LLVM_LIBRARY_DIRS}")
  install(TARGETS trine_simt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(TARGET trine_cli)
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(trine_cli PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS trine_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT TrineTargets NAMESPACE trine:: DESTINATION ${package_dir})
configure_package_config_file(cmake/TrineConfig.cmake.in ${PROJECT_BINARY_DIR}/generated/TrineConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/TrineConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/TrineConfig.cmake ${PROJECT_BINARY_DIR}/generated/TrineConfigVersion.cmake
        DESTINATION ${package_dir})

# trine_pkg_config(<name> <library> <requires> <description>)
file(RELATIVE_PATH to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
function(trine_pkg_config name library requires description)
  get_target_property(link_options ${library} INTERFACE_LINK_OPTIONS)
  if(NOT link_options)
    set(link_options)
  endif()
  configure_file(cmake/trine.pc.in ${PROJECT_BINARY_DIR}/generated/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/generated/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
trine_pkg_config(trine trine trine-rt "Deep-learning inference: models to engines")
trine_pkg_config(trine-rt trine_rt "" "Deep-learning inference: runs engines")
trine_pkg_config(trine-dnn trine_dnn trine-rt "Deep-learning primitives on the CPU")
trine_pkg_config(trine-compute trine_compute trine-rt "Kernels in CUDA C++ on CPUs and NVIDIA GPUs")

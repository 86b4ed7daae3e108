# What the libraries are to others, inside this build and installed: trine::rt, trine::dnn, trine::compute,
# trine::cudart, trine::trine with their public headers and nothing else.
include(GNUInstallDirs)
foreach(name rt dnn compute cudart trine)
  set(target trine_${name})
  if(name STREQUAL "trine")
    set(target trine)
  endif()
  add_library(trine::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
                        SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} INSTALL_RPATH "$ORIGIN")
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                             $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

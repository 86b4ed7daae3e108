# The command line (build/bin/trine), the examples, and what both share: pictures, .npy files, boxes (tools/media).
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)

file(GLOB media_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/media/*.cc)
add_library(trine_media STATIC ${media_sources})
target_include_directories(trine_media PUBLIC ${PROJECT_SOURCE_DIR}/tools)
target_link_libraries(trine_media PUBLIC trine)

# The Python side of `bench --against` travels inside the program.
set(peer_worker ${PROJECT_SOURCE_DIR}/tools/trine/peer_worker.py)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${peer_worker})
file(READ ${peer_worker} PEER_WORKER)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/peer_worker.h @ONLY CONTENT
     "namespace trine::cli { inline constexpr char kPeerWorker[] = R\"py(@PEER_WORKER@)py\"; }\n")

# Everything but main, so that the tests can link it too.
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/trine/*.cc)
list(FILTER cli_sources EXCLUDE REGEX "/main\\.cc$")
add_library(trine_cli_parts STATIC ${cli_sources})
target_include_directories(trine_cli_parts PRIVATE ${PROJECT_BINARY_DIR}/generated)
# Their time is the compiler's, not theirs: most is made of CLI11's templates.
target_compile_options(trine_cli_parts PRIVATE ${TRINE_TOOL_FLAG})
target_precompile_headers(trine_cli_parts PRIVATE <CLI/CLI.hpp> <fmt/format.h> <algorithm> <functional> <map> <optional>
                          <string> <vector>)
target_link_libraries(trine_cli_parts PUBLIC trine_media trine_compute CLI11::CLI11 nlohmann_json::nlohmann_json)

if(EXISTS ${PROJECT_SOURCE_DIR}/tools/trine/main.cc)
  add_executable(trine_cli tools/trine/main.cc)
  add_dependencies(trine_cli trine_gpu)  # opened at run time
  set_target_properties(trine_cli PROPERTIES OUTPUT_NAME trine)
  target_compile_definitions(trine_cli PRIVATE TRINE_VERSION="${PROJECT_VERSION}")
  target_compile_options(trine_cli PRIVATE ${TRINE_TOOL_FLAG})
  target_link_libraries(trine_cli PRIVATE trine_cli_parts)
endif()

# One program per .cc in examples/; sources in a folder of the program's name belong to it.
file(GLOB example_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/*.cc)
foreach(source ${example_sources})
  get_filename_component(name ${source} NAME_WE)
  file(GLOB parts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/examples/${name}/*.cc)
  add_executable(${name} ${source} ${parts})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/examples)
  target_link_libraries(${name} PRIVATE trine_media trine_dnn)
endforeach()

# The command line: build/bin/trine.
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
file(GLOB tool_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tools/trine/*.cc)
if(tool_sources)
  add_executable(trine_cli ${tool_sources})
  set_target_properties(trine_cli PROPERTIES OUTPUT_NAME trine)
  target_link_libraries(trine_cli PRIVATE trine CLI11::CLI11 nlohmann_json::nlohmann_json)
endif()

# Benchmark programs; built only when asked for (ninja bench_dnn).
add_executable(bench_dnn EXCLUDE_FROM_ALL bench/dnn.cc)
target_link_libraries(bench_dnn PRIVATE trine_rt)

#include "simt/run/symbols.h"

namespace trine::simt {

namespace {

template <class Result, class... Arguments>
void* address_of(Result (*function)(Arguments...)) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

std::span<const RuntimeSymbol> runtime_symbols() {
  static const RuntimeSymbol table[] = {{"trine_simt_thread", address_of(trine_simt_thread)},
                                        {"trine_simt_barrier", address_of(trine_simt_barrier)},
                                        {"trine_simt_barrier_arrive", address_of(trine_simt_barrier_arrive)},
                                        {"trine_simt_grid_sync", address_of(trine_simt_grid_sync)},
                                        {"trine_simt_warp_sync", address_of(trine_simt_warp_sync)},
                                        {"trine_simt_active_mask", address_of(trine_simt_active_mask)},
                                        {"trine_simt_shuffle", address_of(trine_simt_shuffle)},
                                        {"trine_simt_vote", address_of(trine_simt_vote)},
                                        {"trine_simt_match", address_of(trine_simt_match)},
                                        {"trine_simt_reduce", address_of(trine_simt_reduce)},
                                        {"trine_simt_is_local", address_of(trine_simt_is_local)},
                                        {"trine_simt_exit", address_of(trine_simt_exit)},
                                        {"trine_simt_set_lane", address_of(trine_simt_set_lane)},
                                        {"trine_simt_vprintf", address_of(trine_simt_vprintf)},
                                        {"trine_simt_assert_fail", address_of(trine_simt_assert_fail)},
                                        {"trine_simt_trap", address_of(trine_simt_trap)},
                                        {"trine_simt_clock", address_of(trine_simt_clock)},
                                        {"trine_simt_wait", address_of(trine_simt_wait)},
                                        {"trine_simt_nanoseconds", address_of(trine_simt_nanoseconds)},
                                        {"trine_simt_malloc", address_of(trine_simt_malloc)},
                                        {"trine_simt_free", address_of(trine_simt_free)},
                                        {"trine_simt_yield", address_of(trine_simt_yield)},
                                        {"trine_check_locate", address_of(trine_check_locate)},
                                        {"trine_check_access", address_of(trine_check_access)},
                                        {"trine_check_acquire", address_of(trine_check_acquire)},
                                        {"trine_check_fence", address_of(trine_check_fence)},
                                        {"trine_check_local", address_of(trine_check_local)},
                                        {"trine_check_stack", address_of(trine_check_stack)},
                                        {"trine_check_unwritten", address_of(trine_check_unwritten)},
                                        {"trine_check_copy", address_of(trine_check_copy)},
                                        {"trine_check_copied", address_of(trine_check_copied)},
                                        {"trine_check_written", address_of(trine_check_written)}};
  return table;
}

}  // namespace trine::simt

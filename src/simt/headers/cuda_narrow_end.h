// Forgets the words of one format, and what it set. No #pragma once.

#ifdef __clang__
#pragma clang fp contract(fast)
#endif

#undef __TRINE_N__
#undef __TRINE_N2__
#undef __TRINE_S__
#undef __TRINE_S2__
#undef __TRINE_WORD__
#undef __TRINE_WORD2__
#undef __TRINE_TO2__
#undef __TRINE_RAW__
#undef __TRINE_RAW2__
#undef __TRINE_BITS_OF__
#undef __TRINE_VALUE_OF__

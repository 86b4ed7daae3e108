// Algorithms that the host calls, for arrays in device memory, in the order of a stream.
//
//   transform(in, n, out, op)              out_i = op(in_i); transform(a, b, n, out, op): op(a_i, b_i)
//   reduce(in, n, out, initial, op)        *out = initial op in_0 op ...; op is associative and commutative
//   inclusive_scan(in, n, out, op)         out_i = in_0 op ... op in_i; op is associative; out may be in
//   exclusive_scan(in, n, out, initial, op)  out_i = initial op in_0 op ... op in_(i-1); out may be in
//   sort(data, n, less)                    stable
//   sort_by_key(keys, values, n, less)     stable
//   copy_if(in, n, out, count, predicate)  those that it keeps, in order; *count tells how many
//   unique(in, n, out, count, same)        the first of each run of equals; *count tells how many
//
// Each takes a stream as its last argument, the default stream if none is given. All pointers are to device memory,
// also those of a single result. Elements are trivially copyable; operators can be called in device code. What is
// returned is an error of giving the work: of a kernel that fails, later calls of the runtime API tell. Memory for the
// time of a call is of the stream's pool, so that no call can be part of a capture but transform's.
#pragma once

#include "algorithms_scan.h"
#include "algorithms_sort.h"

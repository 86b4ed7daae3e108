// What device rows take: on random numbers, several launches in one captured graph, so that a launch costs what it
// costs in an engine; medians of what the device's events say.
//
// Inputs and outputs are the same memory in every launch, as an engine's activations are, which the step before has
// just written. Weights are not: launches take copies in turn that together are larger than the cache of level 2, as a
// network's weights have left it when its next run comes. Compile before: DevicePrograms::prepare.
#pragma once

#include "dnn/device_operands.h"

namespace trine::dnn {

// Of one of `calls` launches by `submit(0)`, `submit(1)`, ..., in a graph that is launched `rounds` times, after
// launches for `warm_seconds`: clocks of an idle device are low.
double seconds_in_graph(const compute::Device& device, compute::Stream& stream, int calls, int rounds,
                        const std::function<void(int turn)>& submit, double warm_seconds = 0);

// `provided`: the row's, if it is a provider's. Takes about `seconds` at most, and two launches at least. Throws what
// the device throws; the operands' memory is to be given up then.
double measure(const DeviceRow& row, const DeviceOperands& operands, const DeviceTraits& traits, ProvidedCall* provided,
               compute::DevicePrograms& programs, double seconds);

}  // namespace trine::dnn

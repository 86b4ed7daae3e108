// The prelude has them all.
#pragma once

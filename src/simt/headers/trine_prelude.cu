// The main file of the precompiled prelude: what it includes as the system's may overload functions of <cmath>.
#include <trine_prelude.h>

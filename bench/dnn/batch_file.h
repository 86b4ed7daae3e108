// Reads problem lists in the format of benchdnn's batch files:
//
//   # comment to the end of the line          --conv                     the driver from here on
//   --dir=FWD_B --attr-post-ops=relu,sum      options: a state that every later descriptor is multiplied with
//   mb1ic64ih56oc256oh56kh1ph0n"res2a*4"      a descriptor: runs now, with the options as they stand
//   --reset                                   options back to their defaults
//   --batch=other_list                        another list, read as if it stood here: options hold in it, and after it
//
// Tokens are separated by any white space; one that ends in '\' is glued to the next. benchdnn names the driver on its
// command line; here it is a line of the list (--conv), or the folder of the file (conv/shapes_resnet_50).
#pragma once

#include "entry.h"

namespace trine::bench {

// Throws Error "file:line: token: what; accepted" for anything that the format does not allow.
std::vector<Entry> read_batch_file(const std::string& path, Driver driver = Driver::none);

// The same of a text; `--batch` looks beside `path`.
std::vector<Entry> read_batch_text(std::string_view text, const std::string& path, Driver driver = Driver::none);

}  // namespace trine::bench

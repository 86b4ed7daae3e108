// trine cc: a program in CUDA C++ becomes an executable for the CPU, and for GPUs.
//
// The device's part is compiled in process and kept as one file; clang compiles the host's part, embeds that file, and
// registers it with libtrine_cudart when the program starts.
#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "cc_arguments.h"
#include "cc_units.h"
#include "command.h"
#include "trine/base/error.h"
#include "trine/compute/program.h"

extern char** environ;

namespace trine::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Removed with all that is in it.
class Scratch {
 public:
  Scratch() {
    std::string name = (fs::temp_directory_path() / "trine-cc-XXXXXX").string();
    if (!mkdtemp(name.data())) throw Error(ErrorCode::io, "cc: cannot make a folder in " + name);
    path_ = name;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

void write_file(const std::string& name, std::string_view text) {
  fs::create_directories(fs::path(name).parent_path());
  std::ofstream file(name, std::ios::binary);
  if (!file.write(text.data(), static_cast<std::streamsize>(text.size())).flush())
    throw Error(ErrorCode::io, "cc: cannot write " + name);
}

std::string read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) throw Error(ErrorCode::io, "cc: cannot read " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

int run(const Words& words, bool verbose) {
  if (verbose) fmt::print(stderr, "{}\n", fmt::join(words, " "));
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ) != 0)
    throw Error(ErrorCode::io, "cc: cannot run " + words[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void run_or_fail(const Words& words, const char* what, bool verbose) {
  if (const int status = run(words, verbose))
    throw Error(ErrorCode::invalid_argument,
                fmt::format("cc: {} failed with status {}; see what it said above", what, status));
}

bool on_path(const std::string& program) {
  if (program.find('/') != std::string::npos) return access(program.c_str(), X_OK) == 0;
  for (const char* folder : {"/usr/local/bin", "/usr/bin", "/bin"})
    if (access((std::string(folder) + "/" + program).c_str(), X_OK) == 0) return true;
  return false;
}

std::string host_compiler() {
  const Words known = {"clang++-22", "/usr/lib/llvm-22/bin/clang++", "clang++"};
  for (const std::string& program : known)
    if (on_path(program)) return program;
  throw Error(
      ErrorCode::unsupported,
      fmt::format("cc: no compiler for the host's part; install clang 22 (looked for {})", fmt::join(known, ", ")));
}

// The headers of the compiler itself, without its wrappers for a CUDA toolkit.
std::string compiler_headers(const std::string& compiler, const Scratch& scratch) {
  const std::string answer = scratch.file("resources");
  run_or_fail({"/bin/sh", "-c", fmt::format("'{}' -print-resource-dir > '{}'", compiler, answer)}, "clang", false);
  std::string folder = read_file(answer);
  while (!folder.empty() && folder.back() == '\n') folder.pop_back();
  return folder + "/include";
}

std::string library_folder() {
  Dl_info here;
  if (!dladdr(reinterpret_cast<const void*>(&compute::program_headers), &here) || !here.dli_fname) return ".";
  return fs::weakly_canonical(fs::path(here.dli_fname)).parent_path().string();
}

struct Compiler {
  const CcArguments& arguments;
  Scratch scratch;
  std::string clang = host_compiler();
  Words plain, cuda;  // how calls of clang begin, for C++ and for CUDA

  explicit Compiler(const CcArguments& given) : arguments(given) {
    for (const auto& [name, text] : compute::program_headers()) write_file(scratch.file("include/" + name), text);
    plain = {clang, "-isystem", scratch.file("include")};
    cuda = {clang,
            "-x",
            "cuda",
            "--cuda-host-only",
            "-nocudainc",
            "-nocudalib",
            "-nobuiltininc",
            "-fdeclspec",
            "-Wno-unknown-cuda-version",
            "--cuda-gpu-arch=sm_80",  // libraries name their namespaces by it: as for kernels
            "-isystem",
            scratch.file("include"),
            "-isystem",
            compiler_headers(clang, scratch),
            "-include",
            "trine_prelude.h",
            "-include",
            "cuda_runtime.h"};
    for (Words* words : {&plain, &cuda}) words->insert(words->end(), arguments.host.begin(), arguments.host.end());
  }

  // The same for the host's part and the device's, and another for each file and way to compile it.
  std::string unit_name(const std::string& source) const {
    std::string all = fs::absolute(source).string();
    for (const std::string& word : arguments.host) all += " " + word;
    return fmt::format("{:016x}", std::hash<std::string>()(all));
  }

  void compile(const std::string& source, const std::string& object, size_t number) {
    if (is_cuda(arguments, source)) return compile_cuda(source, object, number);
    Words words = plain;
    if (source.ends_with(".c"))  // -std=c++17 is none of C's
      std::erase_if(words, [](const std::string& word) { return word.starts_with("-std="); });
    words.insert(words.end(), {"-c", source, "-o", object});
    run_or_fail(words, "the host's compiler", arguments.verbose);
  }

  void compile_cuda(const std::string& source, const std::string& object, size_t number) {
    compute::CompileOptions options = arguments.device;
    options.name = source;
    if (arguments.relocatable) options.unit = unit_name(source);
    const compute::CompiledProgram program =
        compute::compile_program(read_file(source), options, arguments.architectures);
    if (!program.warnings.empty()) fmt::print(stderr, "{}", program.warnings);
    const std::string image = scratch.file(fmt::format("{}.program", number));
    write_file(image, program.bytes);
    Words words = cuda;
    words.insert(words.end(), {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", image});
    if (!arguments.relocatable) {
      words.insert(words.end(), {"-c", source, "-o", object});
      return run_or_fail(words, "the host's part", arguments.verbose);
    }
    const std::string assembly = scratch.file(fmt::format("{}.s", number));
    words.insert(words.end(),
                 {"-fgpu-rdc", "--no-offload-new-driver", "-cuid=" + options.unit, "-S", source, "-o", assembly});
    run_or_fail(words, "the host's part", arguments.verbose);
    write_file(assembly, unit_assembly(read_file(assembly), program));
    run_or_fail({clang, "-Wa,--no-warn", "-c", assembly, "-o", object}, "the assembler", arguments.verbose);
  }

  // -dlink: everything is in the objects already, and the program links them when it starts.
  void device_link() {
    const std::string source = scratch.file("nothing.s");
    write_file(source, "\t.section\t.note.GNU-stack,\"\",@progbits\n");
    const std::string output = arguments.output.empty() ? "a_dlink.o" : arguments.output;
    run_or_fail({clang, "-c", source, "-o", output}, "the assembler", arguments.verbose);
  }

  void make_library(const Words& objects) {
    Words words = {"ar", "rcs", arguments.output.empty() ? "a.a" : arguments.output};
    words.insert(words.end(), objects.begin(), objects.end());
    for (const std::string& word : arguments.link)
      if (!word.starts_with('-')) words.push_back(word);
    run_or_fail(words, "ar", arguments.verbose);
  }

  // gdb moves a breakpoint on a kernel's line to the next line of the host's code until the kernel is loaded: there its
  // condition must have a meaning, and be false.
  std::string debugger_names() {
    const std::string source = scratch.file("debugger.cc"), object = scratch.file("debugger.o");
    write_file(source,
               "struct uint3 { unsigned x, y, z; };\n"
               "static const struct uint3 __attribute__((used)) threadIdx = {~0u, ~0u, ~0u},\n"
               "  blockIdx = {~0u, ~0u, ~0u}, blockDim = {~0u, ~0u, ~0u}, gridDim = {~0u, ~0u, ~0u};\n");
    run_or_fail({clang, "-g", "-c", source, "-o", object}, "clang", arguments.verbose);
    return object;
  }

  void link(const Words& objects) {
    const std::string folder = library_folder();
    Words words = {clang, "-o", arguments.output.empty() ? "a.out" : arguments.output};
    words.insert(words.end(), objects.begin(), objects.end());
    words.insert(words.end(), arguments.link.begin(), arguments.link.end());
    if (arguments.device.debug) words.push_back(debugger_names());
    words.insert(words.end(), {"-L" + folder, "-ltrine_cudart", "-Wl,-rpath," + folder, "-lpthread"});
    run_or_fail(words, "the linker", arguments.verbose);
  }
};

int cc(const Words& words) {
  const CcArguments arguments = parse_cc(words);
  if (arguments.verbose && !arguments.notes.empty())
    fmt::print(stderr, "note: cc: nothing here depends on {}\n", fmt::join(arguments.notes, " "));
  Compiler compiler(arguments);
  if (arguments.link_only) return compiler.device_link(), 0;
  Words objects;
  for (const std::string& source : arguments.sources) {
    const std::string own = fs::path(source).stem().string() + ".o";
    objects.push_back(!arguments.compile_only    ? compiler.scratch.file(fmt::format("{}.o", objects.size()))
                      : arguments.output.empty() ? own
                                                 : arguments.output);
    compiler.compile(source, objects.back(), objects.size());
  }
  if (arguments.library) compiler.make_library(objects);
  else if (!arguments.compile_only) compiler.link(objects);
  return 0;
}

constexpr const char* kFlags =
    "Files end in .cu, or in .cc, .cpp, .cxx, .C, .c for host code alone; others (.o .a .so) are linked.\n\n"
    "  -o FILE  -c  -I DIR  -D NAME  -O0..-O3  -std=c++17|20  -L DIR  -l NAME  -Xcompiler FLAG,...\n"
    "  -rdc=true  -dc     device code that uses that of other files; -dc: with -c. -dlink, -lib, -x cu: as nvcc's\n"
    "  -g                 for gdb: host code as clang's, kernels not optimised (docs/debugging.md); -G: kernels only\n"
    "  --use_fast_math    as nvcc's\n"
    "  --gpu[=sm_80,...]  carry PTX too; the program then uses a GPU where there is one (TRINE_DEVICE=cpu: never)\n"
    "  --check=memory,race,barrier,init|all  check kernels on the CPU; a program in which something is found ends with "
    "1\n"
    "  -v                 show what is run, and which flags do nothing\n"
    "Accepted and without effect: -arch, -gencode, -lineinfo, --expt-relaxed-constexpr, --extended-lambda, ...";

}  // namespace

std::function<int()> setup_cc(CLI::App& app) {
  app.prefix_command();
  app.footer(fmt::format("trine cc FILE.cu ... [flags]\n\n{}\n\n{}", kFlags, app.get_footer()));
  return [&app] { return cc(app.remaining()); };
}

}  // namespace trine::cli

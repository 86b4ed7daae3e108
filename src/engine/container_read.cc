// Reading: nothing is believed before it is checked. Sizes come from the file's real length, indices are compared with
// the lists they point into, and the graph is verified as a whole.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>

#include "base/memory.h"
#include "engine/container.h"
#include "engine_generated.h"
#include "trine/base/error.h"

namespace trine {
namespace {

constexpr size_t kHeaderBytes = 64;
constexpr int kMaxDepth = 60;

[[noreturn]] void damaged(const std::string& what) {
  throw Error(ErrorCode::invalid_engine, fmt::format("engine: {}; build the engine again from its model", what));
}

template <class T>
T read_at(std::span<const uint8_t> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

class Reader {
 public:
  explicit Reader(const FileBytes& file) : file_(file) {}

  StoredEngine run() {
    const fb::Engine* root = checked_root();
    if (!root->graph()) damaged("the file holds no graph");
    if (root->sections())
      for (const fb::Section* s : *root->sections()) sections_.push_back(s);
    hashed_.resize(sections_.size());
    StoredEngine out;
    out.graph = std::make_shared<Graph>(read(*root->graph(), 0));
    out.graph->verify();
    if (root->plans())
      for (const fb::Plan* p : *root->plans()) out.plans.push_back(read(*p, 0));
    if (root->objects())
      for (const fb::Object* o : *root->objects()) out.objects.push_back(read(*o));
    if (root->device_code())
      for (const fb::DeviceCode* c : *root->device_code()) {
        const auto data = section(c->section());
        out.device_code.push_back(
            {text(c->device()), Tensor(DType::u8, {static_cast<int64_t>(data.size())}, data.data(), file_.owner)});
      }
    if (root->metadata())
      for (const fb::Entry* e : *root->metadata()) out.metadata[text(e->key())] = text(e->value());
    return out;
  }

 private:
  // Metadata may point to one string, list or section many times. What is copied from it stays within a multiple of the
  // file: short names are shared, long ones in every place are an attack.
  void spend(size_t bytes) {
    constexpr size_t kGrowth = 64, kAtLeast = 1 << 20;
    copied_ += bytes;
    if (copied_ > kGrowth * file_.bytes.size() + kAtLeast)
      damaged(fmt::format("a file of {} bytes unfolds to more than {}", file_.bytes.size(), copied_));
  }

  std::string text(const flatbuffers::String* s) {
    if (!s) return {};
    spend(s->size());
    return s->str();
  }

  std::vector<std::string> texts(const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* list) {
    std::vector<std::string> out;
    if (!list) return out;
    spend(list->size() * sizeof(std::string));
    for (const flatbuffers::String* s : *list) out.push_back(text(s));
    return out;
  }

  template <class T>
  std::vector<T> numbers(const flatbuffers::Vector<T>* list) {
    if (!list) return {};
    spend(list->size() * sizeof(T));
    return {list->begin(), list->end()};
  }

  const fb::Engine* checked_root() {
    const auto bytes = file_.bytes;
    if (bytes.size() < kHeaderBytes || std::memcmp(bytes.data(), "TRINE\r\n\x1a", 8) != 0)
      damaged(fmt::format("not an engine file ({} bytes)", bytes.size()));
    if (const auto version = read_at<uint32_t>(bytes, 8); version != kEngineVersion)
      damaged(fmt::format("file format {}; this version reads {}", version, kEngineVersion));
    if (XXH3_64bits(bytes.data(), 48) != read_at<uint64_t>(bytes, 48)) damaged("header is damaged (checksum)");
    const auto offset = read_at<uint64_t>(bytes, 16), size = read_at<uint64_t>(bytes, 24);
    if (read_at<uint64_t>(bytes, 40) != bytes.size())
      damaged(fmt::format("file has {} bytes; its header says {}: it is truncated", bytes.size(),
                          read_at<uint64_t>(bytes, 40)));
    if (offset > bytes.size() || size > bytes.size() - offset || offset % 64 != 0)
      damaged("metadata lies outside the file");
    if (XXH3_64bits(bytes.data() + offset, size) != read_at<uint64_t>(bytes, 32))
      damaged("metadata is damaged (checksum)");
    // Tables can only multiply through shared offsets; the limit keeps the walk linear in the file.
    const auto max_tables = static_cast<flatbuffers::uoffset_t>(size / 8 + 1000);
    flatbuffers::Verifier verifier(bytes.data() + offset, size, /*max_depth=*/256, max_tables);
    if (!fb::VerifyEngineBuffer(verifier)) damaged("metadata is malformed");
    return fb::GetEngine(bytes.data() + offset);
  }

  // The bytes of a section, its checksum verified on first use. Pages of a `seldom` read one are let go again: weights
  // that a plan holds packed need not be in memory twice.
  std::span<const uint8_t> section(int index, bool seldom = false) {
    if (index < 0 || static_cast<size_t>(index) >= sections_.size()) damaged(fmt::format("no section {}", index));
    const fb::Section* s = sections_[static_cast<size_t>(index)];
    if (s->offset() > file_.bytes.size() || s->bytes() > file_.bytes.size() - s->offset() || s->offset() % 64 != 0)
      damaged(fmt::format("section {} lies outside the file", index));
    const auto bytes = file_.bytes.subspan(s->offset(), s->bytes());
    char& done = hashed_[static_cast<size_t>(index)];
    if (done) return bytes;
    hashed_bytes_ += bytes.size();
    if (hashed_bytes_ > file_.bytes.size()) damaged("sections overlap");
    if (hash_pages(bytes, seldom) != s->hash()) damaged(fmt::format("section {} is damaged (checksum)", index));
    done = 1;
    return bytes;
  }

  uint64_t hash_pages(std::span<const uint8_t> bytes, bool seldom) const {
    constexpr size_t kChunk = 4 << 20;
    if (!seldom || !file_.mapped) return XXH3_64bits(bytes.data(), bytes.size());
    XXH3_state_t state;
    XXH3_64bits_reset(&state);
    for (size_t at = 0; at < bytes.size(); at += kChunk) {
      const auto chunk = bytes.subspan(at, std::min(kChunk, bytes.size() - at));
      XXH3_64bits_update(&state, chunk.data(), chunk.size());
      let_go(chunk);
    }
    return XXH3_64bits_digest(&state);
  }

  // Pages that neighbours share, and those that the kernel mapped ahead, go too: they come back when they are read.
  void let_go(std::span<const uint8_t> bytes) const {
    constexpr uintptr_t kAhead = 64 << 10;
    const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    const auto first = reinterpret_cast<uintptr_t>(file_.bytes.data()), last = first + file_.bytes.size();
    const uintptr_t begin = std::max(reinterpret_cast<uintptr_t>(bytes.data()) / page * page, first);
    const uintptr_t end = std::min(reinterpret_cast<uintptr_t>(bytes.data() + bytes.size()) + kAhead, last);
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }

  Tensor read(const fb::Tensor& t) {
    if (t.dtype() == 0 || t.dtype() >= kDTypeCount) damaged(fmt::format("unknown element type {}", t.dtype()));
    const auto dtype = static_cast<DType>(t.dtype());
    const Dims dims = numbers(t.dims());
    const int64_t count = element_count(dims);
    if (dtype == DType::string) {
      std::vector<std::string> strings = texts(t.strings());
      if (static_cast<int64_t>(strings.size()) != count) damaged("a tensor has the wrong number of strings");
      return Tensor::of_strings(dims, std::move(strings));
    }
    const uint64_t bytes = static_cast<uint64_t>(count) * byte_size(dtype);
    if (t.section() >= 0) {
      const auto data = section(t.section(), /*seldom=*/true);
      if (data.size() != bytes) damaged("a tensor's section has the wrong size");
      return Tensor(dtype, dims, data.data(), file_.owner);
    }
    if (!t.bytes() || t.bytes()->size() != bytes) damaged("a tensor has the wrong number of bytes");
    spend(bytes);
    Tensor out(dtype, dims);
    if (bytes) std::memcpy(out.mutable_data(), t.bytes()->data(), bytes);
    return out;
  }

  AttrValue read(const fb::Attr& a) {
    std::vector<Tensor> tensors;
    if (a.ts())
      for (const fb::Tensor* t : *a.ts()) tensors.push_back(read(*t));
    switch (a.kind()) {
      case 0: return a.i();
      case 1: return a.d();
      case 2: return text(a.s());
      case 3: return numbers(a.is());
      case 4: return numbers(a.ds());
      case 5: return texts(a.ss());
      case 6:
        if (tensors.size() != 1) damaged("a tensor attribute holds no tensor");
        return tensors[0];
      case 7: return tensors;
      case 8: return Type::parse(text(a.s()));
      default: damaged(fmt::format("unknown attribute kind {}", a.kind()));
    }
  }

  Graph read(const fb::Graph& f, int depth) {
    if (depth > kMaxDepth) damaged("graphs nested too deep");
    Graph g;
    if (f.values()) {
      for (const fb::Value* v : *f.values()) {
        Value value;
        value.name = text(v->name());
        value.type = Type::parse(text(v->type()));
        if (v->constant()) value.constant = read(*v->constant());
        g.values.push_back(std::move(value));
      }
    }
    if (f.nodes())
      for (const fb::Node* n : *f.nodes()) g.nodes.push_back(read(*n, depth));
    g.inputs = numbers(f.inputs());
    g.outputs = numbers(f.outputs());
    return g;
  }

  Node read(const fb::Node& n, int depth) {
    Node node;
    node.op = find_op(text(n.op()));
    if (!node.op) damaged(fmt::format("operator '{}' is unknown to this version", text(n.op())));
    node.name = text(n.name());
    if (n.attrs())
      for (const fb::Attr* a : *n.attrs()) node.attrs.set(text(a->name()), read(*a));
    node.inputs = numbers(n.inputs());
    node.outputs = numbers(n.outputs());
    node.captures = n.captures();
    if (node.captures < 0 || static_cast<size_t>(node.captures) > node.inputs.size())
      damaged("a node captures more than it has");
    if (n.bodies())
      for (const fb::Graph* b : *n.bodies()) node.bodies.push_back(std::make_shared<Graph>(read(*b, depth + 1)));
    node.sources = texts(n.sources());
    return node;
  }

  dnn::Limits read_limits(const fb::Plan& p) {
    dnn::Limits limits;
    limits.threads = std::clamp(p.threads(), 1, 1024);
    limits.winograd = p.winograd();
    limits.fast = p.fast();
    limits.drop = texts(p.drop());
    limits.workspace_bytes = p.workspace();
    limits.deterministic = p.deterministic();
    limits.seconds_per_byte = std::isfinite(p.seconds_per_byte()) ? std::max(p.seconds_per_byte(), 0.0) : 0;
    limits.tf32 = p.tf32();
    limits.providers = p.providers();
    return limits;
  }

  StoredPlan read(const fb::Plan& p, int depth) {
    if (depth > kMaxDepth) damaged("plans nested too deep");
    StoredPlan out{text(p.fingerprint()), read_limits(p), {}, {}, text(p.device())};
    if (p.packed()) {
      for (const fb::Packed* packed : *p.packed()) {
        const auto data = section(packed->section());
        Tensor bytes(DType::u8, {static_cast<int64_t>(data.size())}, data.data(), file_.owner);
        out.packed.push_back({static_cast<dnn::Packing>(packed->packing()), std::move(bytes)});
      }
    }
    if (!p.steps()) return out;
    for (const fb::Step* s : *p.steps()) {
      StoredStep step{s->node(), texts(s->rows()), numbers(s->packed()), {}};
      for (int index : step.packed)
        if (index < -1 || index >= static_cast<int>(out.packed.size()))
          damaged("a step names packed weights that do not exist");
      if (s->bodies())
        for (const fb::Plan* b : *s->bodies()) step.bodies.push_back(read(*b, depth + 1));
      out.steps.push_back(std::move(step));
    }
    return out;
  }

  codegen::ObjectCode read(const fb::Object& o) {
    const auto data = section(o.section());
    spend(data.size());
    codegen::ObjectCode out{text(o.cpu_level()), {data.begin(), data.end()}, {}};
    if (o.kernels())
      for (const fb::Kernel* k : *o.kernels()) {
        if (k->offset() >= data.size()) damaged("machine code entry outside its section");
        out.offsets[k->hash()] = k->offset();
      }
    return out;
  }

  const FileBytes& file_;
  std::vector<const fb::Section*> sections_;
  std::vector<char> hashed_;
  size_t hashed_bytes_ = 0, copied_ = 0;
};

}  // namespace

FileBytes map_file(const std::string& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a pipe is refused, not waited for
  const auto fail = [&](const char* what) {
    const int error = errno;
    if (fd >= 0) close(fd);
    throw Error(ErrorCode::io,
                fmt::format("{}: {} ({}); give an engine file that can be read", path, what, std::strerror(error)));
  };
  if (fd < 0) fail("cannot open");
  struct stat st;
  if (fstat(fd, &st) != 0) fail("cannot read its size");
  if (!S_ISREG(st.st_mode)) {
    close(fd);
    throw Error(ErrorCode::io, fmt::format("{}: not a regular file; give an engine file", path));
  }
  const auto bytes = static_cast<size_t>(st.st_size);
  if (bytes == 0) {
    close(fd);
    return {};
  }
  void* p = mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (p == MAP_FAILED) fail("cannot map");
  close(fd);
  std::shared_ptr<const void> owner(p, [bytes](const void* q) { munmap(const_cast<void*>(q), bytes); });
  return {std::move(owner), {static_cast<const uint8_t*>(p), bytes}, true};
}

StoredEngine read_engine(const FileBytes& file) {
  memory_limit();  // a wrong TRINE_MAX_MEM is not the file's fault
  try {
    return Reader(file).run();
  } catch (const Error& e) {
    if (e.code() == ErrorCode::invalid_engine) throw;
    damaged(e.what());
  }
}

}  // namespace trine

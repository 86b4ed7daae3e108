// Engine files with right checksums whose metadata points to the same bytes over and over: small on disk, vast
// unfolded.
#include <gtest/gtest.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "engine/container.h"
#include "engine_generated.h"
#include "trine/base/error.h"
#include "trine/engine/engine.h"

namespace trine {
namespace {

constexpr size_t kHeaderBytes = 64;
constexpr size_t kSectionBytes = 1 << 20;  // every file has one section's worth of zeros

class EngineFile {
 public:
  flatbuffers::FlatBufferBuilder fbb;
  std::vector<flatbuffers::Offset<fb::Plan>> plans;
  std::vector<flatbuffers::Offset<fb::Object>> objects;
  std::vector<flatbuffers::Offset<fb::Entry>> entries;
  std::vector<flatbuffers::Offset<fb::Section>> sections;
  std::vector<flatbuffers::Offset<fb::DeviceCode>> device_code;

  // All of them the same bytes.
  void add_sections(int count) {
    const std::vector<uint8_t> zeros(kSectionBytes);
    for (int i = 0; i < count; ++i)
      sections.push_back(fb::CreateSection(fbb, kHeaderBytes, kSectionBytes, XXH3_64bits(zeros.data(), zeros.size())));
  }

  std::vector<uint8_t> bytes() {
    const auto graph = fb::CreateGraph(fbb);
    fbb.Finish(fb::CreateEngineDirect(fbb, graph, &plans, &objects, &entries, &sections, &device_code));
    const uint64_t offset = kHeaderBytes + kSectionBytes, size = fbb.GetSize(), total = offset + size;
    std::vector<uint8_t> file(total);
    std::memcpy(file.data() + offset, fbb.GetBufferPointer(), size);
    const uint64_t hash = XXH3_64bits(file.data() + offset, size);
    std::memcpy(file.data(), "TRINE\r\n\x1a", 8);
    std::memcpy(file.data() + 8, &kEngineVersion, 4);
    std::memcpy(file.data() + 16, &offset, 8);
    std::memcpy(file.data() + 24, &size, 8);
    std::memcpy(file.data() + 32, &hash, 8);
    std::memcpy(file.data() + 40, &total, 8);
    const uint64_t header_hash = XXH3_64bits(file.data(), 48);
    std::memcpy(file.data() + 48, &header_hash, 8);
    return file;
  }
};

// What the file is refused for.
std::string refusal(const std::vector<uint8_t>& file) {
  try {
    Engine::from_bytes(file.data(), file.size());
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::invalid_engine);
    return e.what();
  }
  return "none";
}

TEST(HostileEngine, OneTextInManyPlaces) {  // 16 GB of names
  EngineFile f;
  const std::vector<flatbuffers::Offset<flatbuffers::String>> drop(1 << 17,
                                                                   f.fbb.CreateString(std::string(1 << 17, 'x')));
  f.plans.push_back(fb::CreatePlanDirect(f.fbb, "", 1, false, &drop));
  EXPECT_NE(refusal(f.bytes()).find("unfolds to more than"), std::string::npos);
}

TEST(HostileEngine, OneSectionAsTheCodeOfManyObjects) {  // 1 GB of machine code
  EngineFile f;
  f.add_sections(1);
  f.objects.assign(1000, fb::CreateObjectDirect(f.fbb, "baseline", 0));
  EXPECT_NE(refusal(f.bytes()).find("unfolds to more than"), std::string::npos);
}

TEST(HostileEngine, DeviceCodeOfNoSection) {
  EngineFile f;
  f.add_sections(1);
  f.device_code = {fb::CreateDeviceCodeDirect(f.fbb, "sm_90 x132", 1)};
  EXPECT_NE(refusal(f.bytes()).find("no section 1"), std::string::npos);
}

TEST(HostileEngine, ManySectionsOfTheSameBytes) {  // 4 GB to hash
  EngineFile f;
  f.add_sections(1 << 12);
  std::vector<flatbuffers::Offset<fb::Packed>> packed;
  for (int i = 0; i < 1 << 12; ++i) packed.push_back(fb::CreatePacked(f.fbb, 0, i));
  f.plans.push_back(fb::CreatePlanDirect(f.fbb, "", 1, false, nullptr, nullptr, &packed));
  EXPECT_NE(refusal(f.bytes()).find("sections overlap"), std::string::npos);
}

}  // namespace
}  // namespace trine

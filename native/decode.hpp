// Raw facts of a stream (tracekit/sqtt/raw.py documents every column).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "clock.hpp"
#include "pages.hpp"

namespace tracekit {

struct __attribute__((packed)) Record {  // 34 bytes: page faults are what decoding pays most
  int64_t issue, typed, stall;
  int32_t epoch;
  uint32_t sequence;
  uint8_t type, flags;
};

// Memory for the records of one stream, given back at its end.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();
  Record* take(size_t records);

 private:
  std::vector<void*> blocks_;
  size_t used_ = kLargePage;
};

// Records of a wave, in chunks of the arena: growing never moves what is there.
class RecordList {
 public:
  explicit RecordList(Arena& arena) : arena_(&arena) {}
  size_t size() const { return size_; }
  Record& operator[](size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const Record& operator[](size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  void push_back(const Record& record) {
    if (size_ % kChunk == 0) chunks_.push_back(arena_->take(kChunk));
    (*this)[size_++] = record;
  }

 private:
  static constexpr size_t kChunk = 128;
  Arena* arena_;
  std::vector<Record*> chunks_;
  size_t size_ = 0;
};

// Records issued and not yet typed, oldest first.
class Waiting {
 public:
  bool empty() const { return head_ == items_.size(); }
  void push(int64_t record) { items_.push_back(record); }
  int64_t pop() {
    const int64_t record = items_[head_++];
    if (empty()) clear();
    return record;
  }
  void clear() {
    items_.clear();
    head_ = 0;
  }

 private:
  std::vector<int64_t> items_;
  size_t head_ = 0;
};

struct Anchor {
  int64_t record, address;
};

struct Replay {
  int64_t record, time;
};

// What stays of a wave after its end.
struct WaveFacts {
  int simd, slot;
  int64_t index, begin, end, start_offset, flags = 0;
  RecordList records;
  std::vector<Anchor> anchors;
  std::vector<Replay> replays;
};

// A wave while it lives.
struct Wave : WaveFacts {
  enum Phase { NORMAL, REQUESTED, SAVED, WAIT_FOR_PC };
  Phase phase = NORMAL;
  int64_t stall = -1, context = -1, open_anchor = -1;
  Waiting waiting;
  int64_t last_of_type[32];

  Wave(Arena& arena, int simd, int slot, int64_t index, int64_t begin, int64_t offset);
  void add(uint8_t type, int64_t issue, uint8_t flags = 0, int64_t stalled = -1);
  bool previous_typed() const;
  void expect_pc(int64_t record);
  void set_pc(int64_t address);
  void trap(int64_t record);
  void lose();
};

struct Side {
  int64_t offset, time;
  uint64_t raw;
};

struct Facts {
  std::unique_ptr<Arena> arena = std::make_unique<Arena>();  // holds the records of the waves
  std::vector<WaveFacts> waves;                              // sorted by simd, slot, index
  std::vector<Side> side;
  std::vector<Epoch> epochs;
  int64_t token_counts[16] = {}, misc_counts[8] = {}, inst_counts[32] = {}, state_counts[4] = {};
  int64_t lag_counts[32][4][kLagBins] = {};  // by type, (simd - timestamp) mod 4, ticks from issue
  int64_t truncated_at = -1, illegal = 0, orphans = 0, last_time = 0;
};

Facts decode(const uint8_t* data, size_t size, unsigned target_cu);

}  // namespace tracekit

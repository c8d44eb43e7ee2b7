// The stream decoder; its readable twin is tracekit/sqtt/reference.py.
#include "decode.hpp"

#include <algorithm>
#include <memory>

namespace tracekit {

Arena::~Arena() {
  for (void* block : blocks_) unmap_pages(block, kLargePage);
}

Record* Arena::take(size_t records) {
  const size_t bytes = records * sizeof(Record);
  if (used_ + bytes > kLargePage) {
    blocks_.push_back(map_pages(kLargePage));
    used_ = 0;
  }
  auto* place = static_cast<uint8_t*>(blocks_.back()) + used_;
  used_ += bytes;
  return reinterpret_cast<Record*>(place);  // packed: no alignment to keep
}

Wave::Wave(Arena& arena, int simd, int slot, int64_t index, int64_t begin, int64_t offset)
    : WaveFacts{simd, slot, index, begin, -1, offset, 0, RecordList(arena), {}, {}} {
  std::fill(std::begin(last_of_type), std::end(last_of_type), -1);
}

void Wave::add(uint8_t type, int64_t issue, uint8_t flags, int64_t stalled) {
  records.push_back({issue, -1, stalled, -1, 0, type, flags});
}

bool Wave::previous_typed() const {
  for (size_t i = records.size(); i-- > 0;)
    if (records[i].type != REMOVED) return records[i].type != UNTYPED;
  return false;
}

void Wave::expect_pc(int64_t record) {
  if (open_anchor < 0) open_anchor = static_cast<int64_t>(anchors.size());
  anchors.push_back({record, -1});
}

void Wave::set_pc(int64_t address) {
  if (open_anchor < 0) {
    anchors.push_back({static_cast<int64_t>(records.size()), address});
    return;
  }
  anchors[static_cast<size_t>(open_anchor)].address = address;
  if (++open_anchor == static_cast<int64_t>(anchors.size())) open_anchor = -1;
}

void Wave::trap(int64_t record) {
  flags |= CONTEXT;
  phase = WAIT_FOR_PC;
  context = record;
  for (auto it = anchors.rbegin(); it != anchors.rend() && it->record >= record; ++it)
    if (it->record == record) it->record = record + 1;
}

void Wave::lose() {
  waiting.clear();
  stall = -1;
  flags |= PACKETS_LOST;
  open_anchor = -1;
  const auto next = static_cast<int64_t>(records.size());
  if (anchors.empty() || anchors.back().record != next || anchors.back().address != -1)
    anchors.push_back({next, -1});
}

namespace {

class Decoder {
 public:
  Decoder(const uint8_t* data, size_t size, unsigned target_cu)
      : data_(data), size_(size), target_cu_(target_cu) {}

  Facts run() {
    size_t at = kHeaderBytes;
    while (at < size_) {
      const int kind = data_[at] & 15;
      const auto bytes = static_cast<size_t>(kTokenBytes[kind]);
      if (at + bytes > size_) {
        facts_.truncated_at = static_cast<int64_t>(at);
        break;
      }
      ++facts_.token_counts[kind];
      if (kind == MISC) {
        misc(at, static_cast<unsigned>(load(data_ + at, 2)));
      } else if (kind != TIME) {
        clock_.now += (data_[at] >> 4 & 1) * kTick;
        if (kind == ISSUE)
          issue(static_cast<uint32_t>(load(data_ + at, 4)));
        else if (kind == INST)
          inst(static_cast<unsigned>(load(data_ + at, 2)));
        else
          side(at, kind, load(data_ + at, static_cast<int>(bytes)));
      }
      at += bytes;
    }
    for (auto& slots : live_)
      for (auto& wave : slots)
        if (wave) close(wave, clock_.now);
    std::sort(facts_.waves.begin(), facts_.waves.end(), [](const auto& a, const auto& b) {
      if (a.simd != b.simd) return a.simd < b.simd;
      return a.slot != b.slot ? a.slot < b.slot : a.index < b.index;
    });
    facts_.epochs = std::move(clock_.epochs);
    facts_.last_time = clock_.now;
    return std::move(facts_);
  }

 private:
  using Live = std::unique_ptr<Wave>;
  const uint8_t* data_;
  size_t size_;
  unsigned target_cu_;
  Clock clock_;
  Live live_[kSimds][kSlots];
  int64_t generation_[kSimds][kSlots] = {};
  uint32_t sequence_ = 0;
  Facts facts_;

  void misc(size_t at, unsigned word) {
    const int type = static_cast<int>(word >> 13 & 7);
    ++facts_.misc_counts[type];
    clock_.now += static_cast<int64_t>(word >> 4 & 255) * kTick;
    if (type == 0 || type == SURF_SYNC) return;
    if (type == TIME_RESET) {
      clock_.reset(data_, size_, at);
      return;
    }
    facts_.side.push_back({static_cast<int64_t>(at), clock_.now, word});
    if (type != PACKET_LOST && type != SAVE_CONTEXT) return;
    for (auto& slots : live_)
      for (auto& wave : slots) {
        if (!wave) continue;
        if (type == PACKET_LOST)
          wave->lose();
        else if (wave->phase == Wave::NORMAL)
          wave->phase = Wave::REQUESTED;
      }
  }

  void side(size_t at, int kind, uint64_t word) {
    const bool wave_field =
        kind == WAVE_START || kind == WAVE_END || kind == WAVE_ALLOC || kind == USERDATA;
    const int slot = static_cast<int>(kind == INST_PC ? word >> 5 & 15 : word >> 10 & 15);
    if ((wave_field || kind == INST_PC) && slot >= kSlots) {
      ++facts_.illegal;
      return;
    }
    facts_.side.push_back({static_cast<int64_t>(at), clock_.now, word});
    if (kind == INST_PC) {
      Live& wave = live_[word >> 9 & 3][slot];
      if (wave && wave->phase == Wave::NORMAL) wave->set_pc(static_cast<int64_t>(word >> 16) << 2);
    } else if (kind == WAVE_START || kind == WAVE_END) {
      if ((word >> 6 & 15) != target_cu_ || (word >> 5 & 1)) return;
      const int simd = static_cast<int>(word >> 14 & 3);
      if (kind == WAVE_START)
        wave_start(at, simd, slot, static_cast<unsigned>(word >> 22 & 127));
      else
        wave_end(simd, slot);
    }
  }

  Wave& new_wave(int simd, int slot, int64_t offset) {
    live_[simd][slot] = std::make_unique<Wave>(*facts_.arena, simd, slot, generation_[simd][slot]++,
                                               clock_.now, offset);
    return *live_[simd][slot];
  }

  void wave_start(size_t at, int simd, int slot, unsigned count) {
    Live& wave = live_[simd][slot];
    if (count > kMaxLanes) {
      if (wave && wave->phase == Wave::REQUESTED) {
        wave->flags |= CONTEXT;
        wave->context = static_cast<int64_t>(wave->records.size());
        wave->add(TYPE_CONTEXT, clock_.now);
        wave->phase = Wave::SAVED;
      } else if (wave && wave->phase == Wave::SAVED) {
        wave->phase = Wave::WAIT_FOR_PC;
      }
      return;
    }
    if (wave) {
      wave->flags |= LOST_END;
      close(wave, clock_.now);
    }
    new_wave(simd, slot, static_cast<int64_t>(at));
  }

  void wave_end(int simd, int slot) {
    Live& wave = live_[simd][slot];
    if (!wave || wave->phase != Wave::NORMAL) return;
    if (!(wave->flags & NO_START)) wave->flags |= COMPLETE;
    close(wave, clock_.now);
  }

  void close(Live& wave, int64_t end) {
    wave->end = end;
    facts_.waves.push_back(std::move(static_cast<WaveFacts&>(*wave)));
    wave.reset();
  }

  void issue(uint32_t word) {
    const int simd = static_cast<int>(word >> 5 & 3);
    uint32_t states = word >> 8 & 0xfffff;
    while (states) {  // jump from one slot with a state to the next
      const int slot = __builtin_ctz(states) / 2;
      state(simd, slot, static_cast<int>(states >> 2 * slot & 3));
      states &= ~(uint32_t{3} << 2 * slot);
    }
  }

  void state(int simd, int slot, int state) {
    ++facts_.state_counts[state];
    Wave* wave = live_[simd][slot].get();
    if (!wave) {
      wave = &new_wave(simd, slot, -1);
      wave->flags |= NO_START;
    }
    if (wave->phase != Wave::NORMAL) return;
    if (state == STALL) {
      wave->stall = clock_.now;
    } else if (state == ISSUED) {
      wave->waiting.push(static_cast<int64_t>(wave->records.size()));
      wave->add(UNTYPED, clock_.now, 0, wave->stall);
      wave->stall = -1;
    } else {
      wave->add(TYPE_IMMED, clock_.now, wave->previous_typed() ? PREVIOUS_TYPED : 0);
    }
  }

  void inst(unsigned word) {
    const int slot = static_cast<int>(word >> 5 & 15);
    if (slot >= kSlots) {
      ++facts_.illegal;
      return;
    }
    const auto type = static_cast<uint8_t>(word >> 11 & 31);
    ++facts_.inst_counts[type];
    ++sequence_;
    Wave* wave = live_[word >> 9 & 3][slot].get();
    if (!wave) {
      ++facts_.orphans;
      return;
    }
    if (wave->phase != Wave::NORMAL) {
      if (type == TYPE_PC && wave->phase == Wave::WAIT_FOR_PC) {
        wave->records[static_cast<size_t>(wave->context)].typed = clock_.now;
        wave->expect_pc(static_cast<int64_t>(wave->records.size()));
        wave->waiting.clear();
        wave->phase = Wave::NORMAL;
      }
      return;
    }
    if (wave->waiting.empty()) {
      ++facts_.orphans;
      return;
    }
    const int64_t head = wave->waiting.pop();
    Record& record = wave->records[static_cast<size_t>(head)];
    if (kSpecial[type] != kNotSpecial) {
      if (kSpecial[type] != kDropped && wave->last_of_type[kSpecial[type]] >= 0)
        wave->replays.push_back({wave->last_of_type[kSpecial[type]], clock_.now});
      record.type = REMOVED;
      return;
    }
    record.type = type;
    record.typed = clock_.now;
    record.epoch = static_cast<int32_t>(clock_.epochs.size()) - 1;
    record.sequence = sequence_;
    if (record.epoch >= 0 && record.typed >= record.issue) {
      const int64_t shift = wave->simd - clock_.epochs.back().timestamp;
      ++facts_.lag_counts[type][shift & 3]
                         [std::min((record.typed - record.issue) >> 2, int64_t{kLagBins - 1})];
    }
    if (head == static_cast<int64_t>(wave->records.size()) - 1) record.flags |= NEWEST;
    wave->last_of_type[type] = head;
    if (type == TYPE_PC)
      wave->expect_pc(head + 1);
    else if (type == TYPE_TRAP)
      wave->trap(head);
  }
};

}  // namespace

Facts decode(const uint8_t* data, size_t size, unsigned target_cu) {
  return Decoder(data, size, target_cu).run();
}

}  // namespace tracekit

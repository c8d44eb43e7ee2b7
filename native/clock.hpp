// Framing and running time of a stream (tracekit/sqtt/framing.py is the twin).
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "layout.hpp"

namespace tracekit {

inline uint64_t load(const uint8_t* p, int bytes) {
  uint64_t word = 0;
  std::memcpy(&word, p, static_cast<size_t>(bytes));
  return word;
}

struct Epoch {
  int64_t offset, time, timestamp, base;
};

class Clock {
 public:
  int64_t now = 0;
  std::vector<Epoch> epochs;

  // A TIME_RESET at `offset`: apply the TIME token that answers it, if one does.
  void reset(const uint8_t* data, size_t size, size_t offset) {
    size_t at = offset + kTokenBytes[MISC];
    while (at < size) {
      const int kind = data[at] & 15;
      const size_t bytes = static_cast<size_t>(kTokenBytes[kind]);
      if (at + bytes > size) return;
      if (kind == TIME) {
        apply(static_cast<int64_t>(load(data + at + 2, 6)), offset);
        return;
      }
      if (kind == MISC && data[at + 1] >> 5 == TIME_RESET) return;
      at += bytes;
    }
  }

 private:
  int64_t base_ = 0;
  bool based_ = false;

  void apply(int64_t timestamp, size_t offset) {
    if (!based_) {
      base_ = timestamp - now + kTick;
      based_ = true;
    }
    if (timestamp > base_) now = (timestamp - base_) & ~int64_t{3};
    epochs.push_back({static_cast<int64_t>(offset), now, timestamp, base_});
  }
};

}  // namespace tracekit

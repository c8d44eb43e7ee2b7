// Program counters for the records of a stream (tracekit/sqtt/stitch.py documents the rules).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracekit {

struct Listing {
  const uint64_t* accept;
  const uint64_t* strict;
  const int32_t* next;
  const int32_t* target;
  const uint8_t* flow;
  int32_t rows;
};

struct Records {
  const uint8_t* type;
  const uint8_t* flags;
  int32_t* row;  // out
};

struct Span {
  int64_t first, count;
  int32_t start;  // listing row of the first record, -1 unknown
};

struct RowAnchor {
  int64_t wave, record;
  int32_t row;
};

struct WaveStitch {
  int64_t stitched = 0, resynchronised = 0, swapped = 0;
};

// Anchors are sorted by wave and record; `budget` bounds the work spent on searching.
std::vector<WaveStitch> stitch(const Listing& listing, const Records& records,
                               const std::vector<Span>& waves,
                               const std::vector<RowAnchor>& anchors, int64_t budget);

}  // namespace tracekit

// Rows in exact timing (tracekit/sqtt/exact.py is the readable twin and says what they mean).
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracekit {

// Columns of the records; all but epoch and flags are overwritten by those of the rows.
struct ExactColumns {
  uint8_t* type;
  int64_t *issue, *typed, *stall;  // become time, duration, stall
  const int32_t* epoch;
  const uint8_t* flags;
  int32_t* row;
  uint8_t* category;
};

struct ExactTables {
  const uint8_t* turn;      // -timestamp mod 4 of each epoch
  const int16_t* lag;       // [256][5] expected ticks by type and shift
  const bool* barrier;      // by listing row
  const uint8_t* category;  // by record type
};

struct ExactWave {
  int64_t first, count, simd;
};

struct Release {
  int64_t row, time;
};

// Writes the rows from the front on; returns how many each wave has.
std::vector<int64_t> exact_rows(const ExactColumns& c, const ExactTables& t,
                                const std::vector<ExactWave>& waves,
                                std::vector<Release>& releases);

}  // namespace tracekit

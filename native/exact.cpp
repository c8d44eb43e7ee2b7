// The exact pass; its readable twin is tracekit/sqtt/exact.py.
#include "exact.hpp"

#include <algorithm>

#include "decode.hpp"

namespace tracekit {

std::vector<int64_t> exact_rows(const ExactColumns& c, const ExactTables& t,
                                const std::vector<ExactWave>& waves,
                                std::vector<Release>& releases) {
  std::vector<int64_t> kept;
  int64_t out = 0;
  for (const ExactWave& wave : waves) {
    const int64_t start = out;
    int64_t previous_end = 0;
    int32_t previous_row = -1;
    uint8_t previous_type = REMOVED;
    for (int64_t i = wave.first; i < wave.first + wave.count; ++i) {
      const uint8_t type = c.type[i];
      const int64_t issue = c.issue[i], typed = c.typed[i], refused = c.stall[i];
      const int32_t row = c.row[i];
      const bool released = type == TYPE_IMMED && previous_type == TYPE_OTHER_MSG &&
                            (c.flags[i] & PREVIOUS_TYPED) && row == previous_row &&
                            (row < 0 || t.barrier[row]);
      previous_type = type;
      previous_row = row;
      if (released) {  // it belongs to the row of its s_barrier
        c.typed[out - 1] = issue + kTick - c.issue[out - 1];
        c.category[out - 1] = CATEGORY_IMMED;
        releases.push_back({out - 1, issue});
        previous_end = issue + kTick;
        continue;
      }
      const int shift = c.epoch[i] < 0 ? 4 : (t.turn[c.epoch[i]] + wave.simd) & 3;
      const int64_t extra = ((typed - issue) >> 2) - t.lag[type * 5 + shift];
      int64_t end = issue + kTick + std::max<int64_t>(extra, 0) * 4;
      if ((type == TYPE_CONTEXT || type == TYPE_TRAP) && typed >= 0) end = typed + kTick;
      int64_t time = refused >= 0 ? refused : issue, stall = issue - time;
      if (type == TYPE_IMMED) {
        time = i == wave.first ? issue : std::min(previous_end, issue);
        stall = end - time;
      }
      c.issue[out] = time;
      c.stall[out] = stall;
      c.typed[out] = end - time;
      c.type[out] = type;
      c.row[out] = row;
      c.category[out] = t.category[type];
      previous_end = end;
      ++out;
    }
    kept.push_back(out - start);
  }
  return kept;
}

}  // namespace tracekit

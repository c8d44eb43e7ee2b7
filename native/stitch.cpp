// The stitcher; its readable twin is tracekit/sqtt/stitch.py.
#include "stitch.hpp"

#include "decode.hpp"
#include "layout.hpp"

namespace tracekit {
namespace {

bool accepts(uint64_t mask, uint8_t type) { return type < 64 && (mask >> type & 1); }

class Walker {
 public:
  Walker(const Listing& listing, const Records& records, int64_t& budget)
      : l_(listing), r_(records), budget_(budget) {}

  WaveStitch walk(const Span& wave, const RowAnchor* anchor, const RowAnchor* anchors_end) {
    WaveStitch out;
    int32_t row = pass(wave.start);
    int64_t i = 0;
    while (i < wave.count) {
      int64_t limit = wave.count;  // records up to the next anchor
      while (anchor != anchors_end && anchor->record <= i) {
        if (anchor->record == i) row = pass(anchor->row);
        ++anchor;
      }
      if (anchor != anchors_end && anchor->record < limit) limit = anchor->record;
      const int64_t at = wave.first + i;
      const uint8_t type = r_.type[at];
      if (type == TYPE_CONTEXT || type == TYPE_TRAP) {
        ++i;
        continue;
      }
      if (row >= 0 && type == UNTYPED) {
        r_.row[at] = row;
        ++out.stitched;
        ++i;
        row = l_.flow[row] == FALL ? pass(l_.next[row]) : -1;
        continue;
      }
      if (row >= 0 && accepts(l_.accept[row], type)) {
        r_.row[at] = row;
        ++out.stitched;
        ++i;
        if (l_.flow[row] == BARRIER && type == TYPE_OTHER_MSG && i < limit && release(at + 1)) {
          r_.row[at + 1] = row;
          ++out.stitched;
          ++i;
        }
        row = step(row, type);
        continue;
      }
      if (row >= 0 && i + 1 < limit && swapped(row, at)) {
        const int32_t next = pass(l_.next[row]);
        r_.row[at] = row;
        r_.row[at + 1] = next;
        out.stitched += 2;
        out.swapped += 1;
        i += 2;
        row = pass(l_.next[next]);
        continue;
      }
      i = search(wave.first, i, limit, row);
      if (row >= 0) ++out.resynchronised;
    }
    return out;
  }

 private:
  const Listing& l_;
  const Records& r_;
  int64_t& budget_;

  // Lines that emit no token are passed over.
  int32_t pass(int32_t row) const {
    while (row >= 0 && l_.flow[row] == PASS) row = l_.next[row];
    return row;
  }

  int32_t step(int32_t row, uint8_t type) const {
    switch (l_.flow[row]) {
      case BRANCH:
        return pass(type == TYPE_JUMP ? l_.target[row] : l_.next[row]);
      case CALL:
        return pass(l_.target[row]);
      case INDIRECT:
        return -1;
      default:
        return pass(l_.next[row]);
    }
  }

  bool release(int64_t at) const {
    return r_.type[at] == TYPE_IMMED && (r_.flags[at] & PREVIOUS_TYPED);
  }

  bool swapped(int32_t row, int64_t at) const {
    const int32_t next = pass(l_.next[row]);
    return next >= 0 && l_.flow[row] == FALL && l_.flow[next] == FALL &&
           r_.type[at] != r_.type[at + 1] && accepts(l_.strict[row], r_.type[at + 1]) &&
           accepts(l_.strict[next], r_.type[at]);
  }

  // Where could the wave be?  Keep every line that fits the coming types until one is left.
  // Sets `row` and returns the record it belongs to; row -1: nothing before that record fits.
  int64_t search(int64_t first, int64_t from, int64_t limit, int32_t& row) {
    struct Candidate {
      int32_t start, row;
    };
    std::vector<Candidate> alive;
    row = -1;
    if (budget_ < l_.rows) return limit;
    budget_ -= l_.rows;
    for (int32_t line = 0; line < l_.rows; ++line)
      if (l_.flow[line] != PASS) alive.push_back({line, line});
    int64_t i = from;
    bool after_barrier = false;
    for (; i < limit && i < from + kPatience && !alive.empty(); ++i) {
      if (i - from >= kEvidence) {
        bool same = true;
        for (const Candidate& c : alive) same = same && c.row == alive[0].row;
        if (same && alive[0].row >= 0) {
          row = alive.size() == 1 ? alive[0].start : alive[0].row;
          return alive.size() == 1 ? from : i;
        }
      }
      const uint8_t type = r_.type[first + i];
      if (after_barrier && release(first + i)) {
        after_barrier = false;
        continue;
      }
      budget_ -= static_cast<int64_t>(alive.size());
      if (budget_ < 0) return limit;
      size_t kept = 0;
      after_barrier = false;
      for (const Candidate& c : alive) {
        if (c.row < 0 || !accepts(l_.strict[c.row], type)) continue;
        after_barrier = after_barrier || (l_.flow[c.row] == BARRIER && type == TYPE_OTHER_MSG);
        alive[kept++] = {c.start, step(c.row, type)};
      }
      alive.resize(kept);
    }
    return i > from ? i : from + 1;
  }
};

}  // namespace

std::vector<WaveStitch> stitch(const Listing& listing, const Records& records,
                               const std::vector<Span>& waves,
                               const std::vector<RowAnchor>& anchors, int64_t budget) {
  Walker walker(listing, records, budget);
  std::vector<WaveStitch> out;
  const RowAnchor* at = anchors.data();
  const RowAnchor* end = at + anchors.size();
  for (size_t w = 0; w < waves.size(); ++w) {
    const RowAnchor* first = at;
    while (at != end && at->wave == static_cast<int64_t>(w)) ++at;
    out.push_back(walker.walk(waves[w], first, at));
  }
  return out;
}

}  // namespace tracekit

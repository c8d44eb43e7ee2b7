// Python bindings: bytes in, flat numpy arrays out, no policy.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <algorithm>
#include <memory>

#include "decode.hpp"
#include "exact.hpp"
#include "pages.hpp"
#include "stitch.hpp"

namespace nb = nanobind;
using namespace tracekit;

namespace {

template <typename T>
using Out = nb::ndarray<nb::numpy, T>;
template <typename T>
using InOut = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Bytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Pages of a mapping that one column holds.
struct Pages {
  void* start;
  size_t bytes;
};

template <typename T>
struct Column {
  T* data;
  size_t size, pages = 0;  // bytes of a mapping, 0: on the heap
  explicit Column(size_t n) : data(new T[n ? n : 1]), size(n) {}
  // At `place` of a mapping, which moves on by the pages that the column takes.
  Column(size_t n, uint8_t*& place) : size(n), pages(whole_pages(n * sizeof(T))) {
    data = reinterpret_cast<T*>(place);
    place += pages;
  }
  Out<T> take() {
    if (!pages) {
      nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
      return Out<T>(data, {size}, owner);
    }
    nb::capsule owner(new Pages{data, pages}, [](void* p) noexcept {
      auto* held = static_cast<Pages*>(p);
      unmap_pages(held->start, held->bytes);
      delete held;
    });
    return Out<T>(data, {size}, owner);
  }
};

Out<int64_t> column(const int64_t* values, size_t n) {
  Column<int64_t> c(n);
  std::copy(values, values + n, c.data);
  return c.take();
}

struct RecordColumns {
  Column<uint8_t> type, flags;
  Column<int64_t> issue, typed, stall;
  Column<int32_t> epoch;
  Column<uint32_t> sequence;
  explicit RecordColumns(size_t n)
      : type(n), flags(n), issue(n), typed(n), stall(n), epoch(n), sequence(n) {}
  // All in one mapping: each column gives its own pages back.
  RecordColumns(size_t n, uint8_t* at)
      : type(n, at),
        flags(n, at),
        issue(n, at),
        typed(n, at),
        stall(n, at),
        epoch(n, at),
        sequence(n, at) {}
  static RecordColumns of(size_t n) {
    const size_t bytes = 2 * whole_pages(n) + 3 * whole_pages(8 * n) + 2 * whole_pages(4 * n);
    if (bytes < kLargePage || !pages_available()) return RecordColumns(n);
    return RecordColumns(n, static_cast<uint8_t*>(map_pages(bytes)));
  }
  void set(size_t i, const Record& r) {
    type.data[i] = r.type;
    flags.data[i] = r.flags;
    issue.data[i] = r.issue;
    typed.data[i] = r.typed;
    stall.data[i] = r.stall;
    epoch.data[i] = r.epoch;
    sequence.data[i] = r.sequence;
  }
};

// Everything the twin's _result does: drop removed records, renumber what points at them.
struct Flattened {
  RecordColumns records;
  std::vector<int64_t> waves, anchors, replays;

  static size_t kept(const Facts& facts) {
    size_t n = 0;
    for (const WaveFacts& wave : facts.waves)
      for (size_t i = 0; i < wave.records.size(); ++i) n += wave.records[i].type != REMOVED;
    return n;
  }

  explicit Flattened(Facts& facts) : records(RecordColumns::of(kept(facts))) {
    size_t at = 0;
    for (size_t w = 0; w < facts.waves.size(); ++w) {
      WaveFacts& wave = facts.waves[w];
      const size_t first = at, n = wave.records.size();
      std::vector<int64_t> position;
      const bool renumber = !wave.anchors.empty() || !wave.replays.empty();
      for (size_t i = 0; i < n; ++i) {
        const Record& r = wave.records[i];
        if (renumber) position.push_back(static_cast<int64_t>(at - first));
        if (r.type != REMOVED) records.set(at++, r);
      }
      if (renumber) position.push_back(static_cast<int64_t>(at - first));
      for (const Anchor& a : wave.anchors) {
        const size_t i = std::min(static_cast<size_t>(a.record), n);
        anchors.insert(anchors.end(), {static_cast<int64_t>(w), position[i], a.address});
      }
      for (const Replay& r : wave.replays)
        replays.insert(
            replays.end(),
            {static_cast<int64_t>(first) + position[static_cast<size_t>(r.record)], r.time});
      waves.insert(waves.end(),
                   {wave.simd, wave.slot, wave.index, wave.begin, wave.end, wave.start_offset,
                    static_cast<int64_t>(first), static_cast<int64_t>(at - first), wave.flags});
    }
  }
};

// Give freed memory back to the system: the allocator keeps what decoding used, just when
// the tables of a large capture need room.
void release_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

Out<int64_t> matrix_column(const std::vector<int64_t>& rows, size_t width, size_t index) {
  Column<int64_t> c(rows.size() / width);
  for (size_t i = 0; i < c.size; ++i) c.data[i] = rows[i * width + index];
  return c.take();
}

nb::dict decode_stream(Bytes data, unsigned target_cu) {
  const uint8_t* bytes = data.data();
  const size_t size = data.size();
  Facts facts;
  std::unique_ptr<Flattened> flat;
  {
    nb::gil_scoped_release unlocked;
    facts = decode(bytes, size, target_cu);
    flat = std::make_unique<Flattened>(facts);
  }
  nb::dict out;
  RecordColumns& r = flat->records;
  out["type"] = r.type.take();
  out["issue"] = r.issue.take();
  out["typed"] = r.typed.take();
  out["stall"] = r.stall.take();
  out["epoch"] = r.epoch.take();
  out["sequence"] = r.sequence.take();
  out["flags"] = r.flags.take();
  out["anchors"] = column(flat->anchors.data(), flat->anchors.size());
  out["replays"] = column(flat->replays.data(), flat->replays.size());
  const char* names[9] = {"simd",         "slot",  "index", "begin", "end",
                          "start_offset", "first", "count", "flags"};
  nb::dict waves;
  for (size_t i = 0; i < 9; ++i) waves[names[i]] = matrix_column(flat->waves, 9, i);
  out["waves"] = waves;
  const size_t n = facts.side.size();
  Column<int64_t> offset(n), time(n);
  Column<uint64_t> raw(n);
  for (size_t i = 0; i < n; ++i) {
    offset.data[i] = facts.side[i].offset;
    time.data[i] = facts.side[i].time;
    raw.data[i] = facts.side[i].raw;
  }
  out["side_offset"] = offset.take();
  out["side_time"] = time.take();
  out["side_raw"] = raw.take();
  std::vector<int64_t> epochs;
  for (const Epoch& e : facts.epochs)
    epochs.insert(epochs.end(), {e.offset, e.time, e.timestamp, e.base});
  nb::dict epoch_columns;
  const char* epoch_names[4] = {"offset", "time", "timestamp", "base"};
  for (size_t i = 0; i < 4; ++i) epoch_columns[epoch_names[i]] = matrix_column(epochs, 4, i);
  out["epochs"] = epoch_columns;
  out["token_counts"] = column(facts.token_counts, 16);
  out["misc_counts"] = column(facts.misc_counts, 8);
  out["inst_counts"] = column(facts.inst_counts, 32);
  out["state_counts"] = column(facts.state_counts, 4);
  out["lag_counts"] = column(&facts.lag_counts[0][0][0], 32 * 4 * kLagBins);
  out["truncated_at"] = facts.truncated_at;
  out["illegal_tokens"] = facts.illegal;
  out["orphan_tokens"] = facts.orphans;
  out["last_time"] = facts.last_time;
  return out;
}

nb::tuple stitch_records(In<uint8_t> type, In<uint8_t> flags, In<int64_t> first, In<int64_t> count,
                         In<int32_t> start, In<int64_t> anchor_wave, In<int64_t> anchor_record,
                         In<int32_t> anchor_row, In<uint64_t> accept, In<uint64_t> strict,
                         In<int32_t> next, In<int32_t> target, In<uint8_t> flow, int64_t budget) {
  Column<int32_t> row(type.size());
  std::vector<Span> waves;
  for (size_t i = 0; i < first.size(); ++i)
    waves.push_back({first.data()[i], count.data()[i], start.data()[i]});
  std::vector<RowAnchor> anchors;
  for (size_t i = 0; i < anchor_wave.size(); ++i)
    anchors.push_back({anchor_wave.data()[i], anchor_record.data()[i], anchor_row.data()[i]});
  const Listing listing{accept.data(), strict.data(), next.data(),
                        target.data(), flow.data(),   static_cast<int32_t>(accept.size())};
  std::vector<WaveStitch> result;
  {
    nb::gil_scoped_release unlocked;
    std::fill(row.data, row.data + row.size, -1);
    result = stitch(listing, {type.data(), flags.data(), row.data}, waves, anchors, budget);
  }
  std::vector<int64_t> counts;
  for (const WaveStitch& w : result)
    counts.insert(counts.end(), {w.stitched, w.resynchronised, w.swapped});
  return nb::make_tuple(row.take(), column(counts.data(), counts.size()));
}

// Overwrites type, issue, typed, stall and row; returns category, rows of each wave, and
// (row, time) of the barrier releases.
nb::tuple exact_records(InOut<uint8_t> type, InOut<int64_t> issue, InOut<int64_t> typed,
                        InOut<int64_t> stall, In<int32_t> epoch, In<uint8_t> flags,
                        InOut<int32_t> row, In<int64_t> first, In<int64_t> count, In<int64_t> simd,
                        In<uint8_t> turn, In<int16_t> lag, In<bool> barrier,
                        In<uint8_t> category_of) {
  Column<uint8_t> category(type.size());
  std::vector<ExactWave> waves;
  for (size_t i = 0; i < first.size(); ++i)
    waves.push_back({first.data()[i], count.data()[i], simd.data()[i]});
  std::vector<Release> releases;
  std::vector<int64_t> kept;
  {
    nb::gil_scoped_release unlocked;
    kept =
        exact_rows({type.data(), issue.data(), typed.data(), stall.data(), epoch.data(),
                    flags.data(), row.data(), category.data},
                   {turn.data(), lag.data(), barrier.data(), category_of.data()}, waves, releases);
  }
  Column<int64_t> rows(releases.size()), times(releases.size());
  for (size_t i = 0; i < releases.size(); ++i) {
    rows.data[i] = releases[i].row;
    times.data[i] = releases[i].time;
  }
  return nb::make_tuple(category.take(), column(kept.data(), kept.size()), rows.take(),
                        times.take());
}

// values[row], row -1 being the last value: numpy would first copy `row` to 64 bits.
template <typename T>
Out<T> take_rows(In<T> values, In<int32_t> row) {
  Column<T> out(row.size());
  const int32_t last = static_cast<int32_t>(values.size()) - 1;
  for (size_t i = 0; i < out.size; ++i) {
    const int32_t at = row.data()[i];
    if (at > last) throw nb::index_error("row beyond the table");
    out.data[i] = values.data()[at < 0 ? last : at];
  }
  return out.take();
}

// Offset and running time of every token: the least any decoder must do.
nb::tuple frame_tokens(Bytes data) {
  const uint8_t* bytes = data.data();
  const size_t size = data.size();
  Column<int64_t> offsets(size / 2), times(size / 2);  // no token is shorter than two bytes
  size_t n = 0;
  {
    nb::gil_scoped_release unlocked;
    Clock clock;
    size_t at = kHeaderBytes;
    while (at < size) {
      const int kind = bytes[at] & 15;
      const auto length = static_cast<size_t>(kTokenBytes[kind]);
      if (at + length > size) break;
      if (kind == MISC) {
        clock.now += static_cast<int64_t>(load(bytes + at, 2) >> 4 & 255) * kTick;
        if (bytes[at + 1] >> 5 == TIME_RESET) clock.reset(bytes, size, at);
      } else if (kind != TIME) {
        clock.now += (bytes[at] >> 4 & 1) * kTick;
      }
      offsets.data[n] = static_cast<int64_t>(at);
      times.data[n++] = clock.now;
      at += length;
    }
  }
  offsets.size = times.size = n;
  return nb::make_tuple(offsets.take(), times.take());
}

// Every number of layout.hpp by name, for the test that compares them with Python's.
nb::dict constants() {
  nb::dict out;
#define EXPORT(name) out[#name] = static_cast<int64_t>(name)
  EXPORT(kHeaderBytes), EXPORT(kSlots), EXPORT(kSimds), EXPORT(kMaxLanes), EXPORT(kTick);
  EXPORT(kLagBins), EXPORT(kNotSpecial), EXPORT(kDropped), EXPORT(kEvidence), EXPORT(kPatience);
  EXPORT(MISC), EXPORT(TIME), EXPORT(REG), EXPORT(WAVE_START), EXPORT(WAVE_ALLOC);
  EXPORT(REG_CS), EXPORT(WAVE_END), EXPORT(INST), EXPORT(INST_PC), EXPORT(USERDATA);
  EXPORT(ISSUE), EXPORT(PERF), EXPORT(REG_CS_PRIV);
  EXPORT(TIME_RESET), EXPORT(PACKET_LOST), EXPORT(SURF_SYNC), EXPORT(SAVE_CONTEXT);
  EXPORT(STALL), EXPORT(ISSUED), EXPORT(IMMED);
  EXPORT(TYPE_PC), EXPORT(TYPE_JUMP), EXPORT(TYPE_OTHER_MSG), EXPORT(TYPE_TRAP);
  EXPORT(UNTYPED), EXPORT(TYPE_IMMED), EXPORT(TYPE_CONTEXT), EXPORT(REMOVED);
  EXPORT(CATEGORY_IMMED);
  EXPORT(NEWEST), EXPORT(PREVIOUS_TYPED);
  EXPORT(COMPLETE), EXPORT(NO_START), EXPORT(LOST_END), EXPORT(PACKETS_LOST), EXPORT(CONTEXT);
  EXPORT(FALL), EXPORT(BRANCH), EXPORT(BARRIER), EXPORT(INDIRECT), EXPORT(CALL), EXPORT(PASS);
#undef EXPORT
  nb::list token_bytes, special;
  for (int bytes : kTokenBytes) token_bytes.append(bytes);
  for (uint8_t type : kSpecial) special.append(static_cast<int>(type));
  out["kTokenBytes"] = token_bytes;
  out["kSpecial"] = special;
  return out;
}

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "Native stream decoder and stitcher; twins: reference.py and stitch.py.";
  m.def("decode", &decode_stream, nb::arg("data"), nb::arg("target_cu"));
  m.def("stitch", &stitch_records);
  m.def("take", &take_rows<int16_t>);
  m.def("take", &take_rows<int32_t>);
  m.def("take", &take_rows<int64_t>);
  m.def("exact", &exact_records);
  m.def("frame", &frame_tokens, nb::arg("data"));
  m.def("release_memory", &release_memory);
  m.def("constants", &constants);
}

// Numbers that the native core shares with the rooms in Python (tracekit/gfx9.py,
// tracekit/sqtt/layout.py, raw.py, live_wave.py, stitch.py).  Every constant of the core stands
// here and is exported (module.cpp): a test compares all of them.
#pragma once
#include <cstdint>

namespace tracekit {

constexpr int kTokenBytes[16] = {2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6};
constexpr int kHeaderBytes = 8;
constexpr int kSlots = 10;
constexpr int kSimds = 4;
constexpr unsigned kMaxLanes = 64;
constexpr int64_t kTick = 4;
constexpr int kLagBins = 16;

// clang-format off: tables
enum Token : int {
  MISC = 0, TIME = 1, REG = 2, WAVE_START = 3, WAVE_ALLOC = 4, REG_CS = 5, WAVE_END = 6,
  INST = 10, INST_PC = 11, USERDATA = 12, ISSUE = 13, PERF = 14, REG_CS_PRIV = 15
};
enum Misc : int { TIME_RESET = 1, PACKET_LOST = 2, SURF_SYNC = 3, SAVE_CONTEXT = 6 };
enum State : int { STALL = 1, ISSUED = 2, IMMED = 3 };
enum Type : uint8_t {
  TYPE_PC = 7, TYPE_JUMP = 12, TYPE_OTHER_MSG = 15, TYPE_TRAP = 29,
  UNTYPED = 32, TYPE_IMMED = 33, TYPE_CONTEXT = 34, REMOVED = 255
};
enum Category : uint8_t { CATEGORY_IMMED = 9 };

// Replay types -> the type they repeat (0xff: not a replay); dropped types are marked 0xfe.
constexpr uint8_t kNotSpecial = 0xff, kDropped = 0xfe;
constexpr uint8_t kSpecial[32] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xfe, 0xfe, 0xfe, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0,    16,   2,    3,    4,    14,   0xfe, 0xfe, 0xfe, 0xff, 0xff, 0xfe, 0xfe};

// What is known of a record and of a wave.
enum RecordFlag : uint8_t { NEWEST = 1, PREVIOUS_TYPED = 2 };
enum WaveFlag : int64_t { COMPLETE = 1, NO_START = 2, LOST_END = 4, PACKETS_LOST = 8, CONTEXT = 16 };
// clang-format on

// The stitcher: where control goes after a line, and when a place found by search is believed.
enum Flow : uint8_t { FALL = 0, BRANCH = 1, BARRIER = 2, INDIRECT = 3, CALL = 4, PASS = 5 };
constexpr int64_t kEvidence = 12, kPatience = 512;

}  // namespace tracekit

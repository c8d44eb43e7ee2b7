// Layout of the gfx9 stream: the numbers of tracekit/sqtt/layout.py (a test compares them).
#pragma once
#include <cstdint>

namespace tracekit {

constexpr int kTokenBytes[16] = {2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6};
constexpr int kHeaderBytes = 8;
constexpr int kSlots = 10;
constexpr int kSimds = 4;
constexpr unsigned kMaxLanes = 64;
constexpr int64_t kCyclesPerDelta = 4;

enum Token : int {
  MISC = 0, TIME = 1, REG = 2, WAVE_START = 3, WAVE_ALLOC = 4, REG_CS = 5, WAVE_END = 6,
  INST = 10, INST_PC = 11, USERDATA = 12, ISSUE = 13, PERF = 14, REG_CS_PRIV = 15
};
enum Misc : int { TIME_RESET = 1, PACKET_LOST = 2, SURF_SYNC = 3, SAVE_CONTEXT = 6 };
enum State : int { STALL = 1, ISSUED = 2, IMMED = 3 };
enum Type : uint8_t {
  TYPE_PC = 7, TYPE_TRAP = 29, UNTYPED = 32, TYPE_IMMED = 33, TYPE_CONTEXT = 34, REMOVED = 255
};

// Replay types -> the type they repeat (0xff: not a replay); dropped types are marked 0xfe.
constexpr uint8_t kNotSpecial = 0xff, kDropped = 0xfe;
constexpr uint8_t kSpecial[32] = {
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xfe, 0xfe, 0xfe, 0xff, 0xff, 0xff, 0xff,
    0xff, 0xff, 0xff, 0,    16,   2,    3,    4,    14,   0xfe, 0xfe, 0xfe, 0xff, 0xff, 0xfe, 0xfe};

}  // namespace tracekit

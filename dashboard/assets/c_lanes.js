// Lanes as the server sends them, and the patterns that they are filled with.
"use strict";
tk.lanes = (function () {
  // In which order the lanes of a SIMD lie.
  const ORDER = { slot: 0, scope: 0, matrix: 1, vector: 2, bubbles: 3, counter: 8, clock: 9 };

  // Answer of the binary route (dashboard/detail.py describes it).
  function unpack(buffer) {
    const size = new DataView(buffer).getUint32(0, true);
    const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, size)));
    let at = 4 + size;
    const take = (type, n) => {
      const array = new type(buffer, at, n);
      at += Math.ceil((n * type.BYTES_PER_ELEMENT) / 4) * 4;
      return array;
    };
    for (const lane of head.lanes) {
      const n = lane.count;
      lane.start = take(Int32Array, n);
      lane.end = take(Int32Array, n);
      lane.row = take(Int32Array, n);
      lane.index = take(Int32Array, n);
      lane.kind = take(Uint8Array, n);
      lane.fill = take(Uint8Array, n);
      lane.reach = new Int32Array(n);
      for (let i = 0, most = -(2 ** 31); i < n; i++) lane.reach[i] = most = Math.max(most, lane.end[i]);
    }
    head.lanes.sort((a, b) => (a.simd < 0) - (b.simd < 0) || a.simd - b.simd ||
      ORDER[a.group] - ORDER[b.group] || a.slot - b.slot);
    return head;
  }

  function firstAbove(array, value) {
    let low = 0, high = array.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (array[middle] > value) high = middle; else low = middle + 1;
    }
    return low;
  }

  function pattern(pen, look) {
    if (look.pattern === "solid") return look.colour;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 8;
    const p = tile.getContext("2d");
    p.fillStyle = look.colour;
    p.fillRect(0, 0, 8, 8);
    p.strokeStyle = p.fillStyle = "#0009";
    p.lineWidth = 1.5;
    p.beginPath();
    if (look.pattern !== "dots") { p.moveTo(-2, 10); p.lineTo(10, -2); p.moveTo(-2, 2); p.lineTo(2, -2); p.moveTo(6, 10); p.lineTo(10, 6); }
    if (look.pattern === "cross") { p.moveTo(-2, -2); p.lineTo(10, 10); }
    p.stroke();
    if (look.pattern === "dots") { p.fillRect(1, 1, 2, 2); p.fillRect(5, 5, 2, 2); }
    return pen.createPattern(tile, "repeat");
  }
  return { unpack, firstAbove, pattern };
})();

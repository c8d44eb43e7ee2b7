// The timeline: one canvas for the lanes, one for the minimap, fed by /tk/lanes.
"use strict";
(function () {
  // Lengths follow the text size of the page, which follows the screen (style.css).
  let U = 1, GUTTER = 132, RULER = 22, GAP = 8, MAP = 36, FONT = "";
  function rescale() {
    U = parseFloat(getComputedStyle(document.documentElement).fontSize) / 14;
    [GUTTER, RULER, GAP, MAP] = [132, 22, 8, 36].map((n) => Math.round(n * U));
    FONT = `${11 * U}px system-ui, sans-serif`;
  }
  const HEIGHT = { slot: 22, scope: 16, matrix: 20, vector: 20, bubbles: 20, counter: 26, clock: 16 };
  const ORDER = { slot: 0, scope: 0, matrix: 1, vector: 2, bubbles: 3, counter: 8, clock: 9 };
  const GROUPS = { slot: "wave slots", scope: "marker scopes", matrix: "matrix pipe", vector: "vector pipe",
    bubbles: "matrix idle", counter: "counters", clock: "shader clock" };

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

  class Timeline {
    constructor(root, capture, part) {
      Object.assign(this, { root, capture, part: part || "a", cursor: 0.5, paints: {}, names: null });
      this.canvas = root.querySelector("canvas.lanes");
      this.map = root.querySelector("canvas.minimap");
      this.pen = this.canvas.getContext("2d");
      this.status = root.querySelector(".status");
      this.tip = root.querySelector(".tip");
      this.detail = document.getElementById("detail");
      this.key = this.part === "a" ? "t" : "tb";
      const slot = root.querySelector(".search-slot");
      if (slot) tk.input(slot, { class: "search", type: "search", placeholder: "search: v_mfma or 0x1700", "aria-label": "search" });
      this.events();
      this.load();
    }

    query(more) {
      const own = this.part === "a";
      const q = { capture: this.capture, window: tk.state.w || "steady", ...more };
      if (own && tk.state.se) q.se = tk.state.se;
      if (own && tk.state.d) q.dispatch = tk.state.d;
      return q;
    }

    async fetch(from, to, pixels, bubbles) {
      const q = this.query({ pixels, bubbles });
      if (from !== null) Object.assign(q, { from: Math.floor(from), to: Math.ceil(to) });
      const response = await fetch("/tk/lanes?" + new URLSearchParams(q), { signal: this.abort && this.abort.signal });
      if (!response.ok) throw new Error((await response.json()).error);
      return unpack(await response.arrayBuffer());
    }

    async load() {
      const began = performance.now();
      try {
        this.whole = this.tile = await this.fetch(null, null, this.pixels(), 0);
      } catch (error) {
        this.status.textContent = error.message;
        this.root.classList.add("failed");
        return;
      }
      const w = this.whole;
      const asked = (tk.state[this.key] || "").split(",").map(Number);
      const span = Math.max(1, w.end - w.begin);
      [this.t0, this.t1] = asked.length === 2 && asked[1] > asked[0] ? asked : [w.begin - span * 0.01, w.end + span * 0.01];
      this.size();
      this.draw();
      this.firstPaint = performance.now() - began;
      this.places();
      this.root.dataset.ready = "lanes";
      try {
        this.whole = this.tile = await this.fetch(null, null, this.pixels(), 1);
        this.names = await tk.json("names", { capture: this.capture });
        if (this.whole.note) this.status.textContent = this.whole.note;
      } catch (error) { this.status.textContent = error.message; }
      this.legend();
      this.groups();
      this.size();
      this.moved();
      if (tk.state.i && this.part === "a") this.select(Number(tk.state.i), true);
      this.root.dataset.ready = "all";
    }

    pixels() { return Math.max(200, Math.round(this.canvas.clientWidth - GUTTER)); }

    places() {
      const select = this.root.querySelector("select.place");
      if (!select) return;
      select.replaceChildren();
      for (const [se, dispatch] of this.whole.places) {
        const option = document.createElement("option");
        option.value = `${se},${dispatch}`;
        option.textContent = `SE ${se} · dispatch ${dispatch}`;
        option.selected = String(this.whole.place) === option.value;
        select.append(option);
      }
      this.root.querySelector(".cu").textContent = `CU ${this.whole.cu.join(", ")}`;
    }

    legend() {
      const box = this.root.querySelector(".legend");
      if (!box) return;
      const used = new Set();
      for (const lane of this.whole.lanes) for (const kind of lane.kind) used.add(kind);
      box.replaceChildren();
      for (const kind of [...used].sort((a, b) => a - b)) {
        const look = this.whole.looks[kind];
        const item = document.createElement("span");
        const chip = document.createElement("canvas");
        chip.width = 18; chip.height = 12;
        const pen = chip.getContext("2d");
        pen.fillStyle = pattern(pen, look);
        pen.fillRect(0, 0, 18, 12);
        item.append(chip, ` ${look.code ? look.code + " " : ""}${look.name}`);
        item.title = look.meaning;
        box.append(item);
      }
    }

    // Boxes that hide groups of lanes; the choice is part of the link.
    groups() {
      const box = this.root.querySelector(".groups");
      if (!box) return;
      const there = new Set(this.whole.lanes.map((lane) => lane.group));
      box.replaceChildren();
      for (const group of Object.keys(GROUPS)) {
        if (!there.has(group)) continue;
        const label = document.createElement("label"), check = document.createElement("input");
        check.type = "checkbox";
        check.dataset.group = group;
        check.checked = !(tk.state.l || "").split(",").includes(group);
        check.addEventListener("change", () => {
          const hidden = [...box.querySelectorAll("input:not(:checked)")].map((each) => each.dataset.group);
          tk.set({ l: hidden.join(",") });
          tk.timelines.forEach((line) => { line.size(); line.draw(); });
        });
        label.append(check, ` ${GROUPS[group]}`);
        box.append(label);
      }
    }

    layout() {
      let y = RULER, simd = null;
      this.rows = [];
      const hidden = (tk.state.l || "").split(",");
      for (const lane of this.tile.lanes) {
        if (hidden.includes(lane.group)) continue;
        if (lane.simd !== simd) { y += GAP; simd = lane.simd; }
        const h = Math.round(HEIGHT[lane.group] * U);
        this.rows.push({ lane, y, h });
        y += h + 2;
      }
      return y + 6;
    }

    size() {
      rescale();
      const ratio = window.devicePixelRatio || 1;
      const height = this.layout();
      for (const [canvas, h] of [[this.canvas, height], [this.map, MAP]]) {
        canvas.style.height = `${h}px`;
        canvas.width = Math.round(canvas.clientWidth * ratio);
        canvas.height = Math.round(h * ratio);
        canvas.getContext("2d").setTransform(ratio, 0, 0, ratio, 0, 0);
      }
      this.paints = {};
    }

    x(t) { return GUTTER + ((t - this.t0) / (this.t1 - this.t0)) * this.pixels(); }
    time(x) { return this.t0 + ((x - GUTTER) / this.pixels()) * (this.t1 - this.t0); }

    // The view moved: draw what is here at once, and ask for finer data when it is needed.
    moved(silent) {
      this.draw();
      tk.state[this.key] = `${Math.round(this.t0)},${Math.round(this.t1)}`;
      tk.write();
      if (!silent && this.linked) this.linked();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.refine(), 40);
    }

    async refine() {
      const span = this.t1 - this.t0, tile = this.tile;
      const fine = tile.last - tile.first <= 3.6 * span || tile.exact;
      const w = this.whole;
      if (fine && tile.first <= Math.max(this.t0, w.begin) && tile.last >= Math.min(this.t1, w.end)) return;
      const from = Math.max(w.begin - 1, this.t0 - span), to = Math.min(w.end + 1, this.t1 + span);
      if (to <= from) return;
      if (this.abort) this.abort.abort();
      this.abort = new AbortController();
      try {
        const share = (to - from) / span;
        this.tile = await this.fetch(from, to, Math.round(this.pixels() * share), 1);
        this.layout();
        this.draw();
      } catch (error) { if (error.name !== "AbortError") this.status.textContent = error.message; }
    }

    paint(kind) {
      return (this.paints[kind] ||= pattern(this.pen, this.whole.looks[kind]));
    }

    draw() {
      if (this.queued) return;
      this.queued = true;
      requestAnimationFrame(() => { this.queued = false; this.frame(); });
    }

    frame() {
      const began = performance.now();
      const pen = this.pen, css = getComputedStyle(document.documentElement);
      const ink = css.getPropertyValue("--ink"), soft = css.getPropertyValue("--line");
      const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
      pen.fillStyle = css.getPropertyValue("--panel");
      pen.fillRect(0, 0, width, height);
      this.ruler(pen, ink, soft, width, height);
      pen.font = FONT;
      pen.textBaseline = "middle";
      let simd = null;
      for (const { lane, y, h } of this.rows) {
        pen.fillStyle = ink;
        const head = lane.simd !== simd && lane.simd >= 0 ? `SIMD ${lane.simd} · ` : "";
        simd = lane.simd;
        pen.fillText(head + lane.name, 6, y + h / 2, GUTTER - 10);
        pen.save();
        pen.beginPath();
        pen.rect(GUTTER, y, width - GUTTER, h);
        pen.clip();
        pen.fillStyle = css.getPropertyValue("--lane");
        pen.fillRect(GUTTER, y, width - GUTTER, h);
        if (lane.group === "slot") this.resident(lane, y, h, css);
        this.intervals(lane, y, h, width);
        pen.restore();
      }
      this.marks(pen, css, height);
      this.minimap(css);
      this.frameTime = performance.now() - began;
    }

    resident(lane, y, h, css) {
      this.pen.fillStyle = css.getPropertyValue("--resident");
      for (const [simd, slot, , begin, end] of this.whole.waves)
        if (simd === lane.simd && slot === lane.slot)
          this.pen.fillRect(this.x(begin), y, Math.max(1, this.x(end) - this.x(begin)), h);
    }

    intervals(lane, y, h, width) {
      const pen = this.pen, base = this.tile.first, scale = this.pixels() / (this.t1 - this.t0);
      const shift = GUTTER + (base - this.t0) * scale;
      let last = -1, lastKind = -1;
      for (let i = firstAbove(lane.reach, this.t0 - base); i < lane.count; i++) {
        const a = shift + lane.start[i] * scale;
        if (a > width) break;
        const b = shift + lane.end[i] * scale, kind = lane.kind[i];
        if (b <= last && kind === lastKind) continue;
        const w = Math.max(b - a, 0.75), part = (h * lane.fill[i]) / 255;
        const tall = lane.group === "counter" ? part : lane.fill[i] === 255 ? h : Math.max(3, part);
        pen.fillStyle = this.paint(kind);
        pen.fillRect(a, y + h - tall, w, tall);
        last = b < a + 1 ? a + 1 : b; lastKind = kind;
        if (w > 3) { pen.fillStyle = "#0006"; pen.fillRect(b - 0.5, y, 0.5, h); }
        if (w > 15 * U) this.label(lane, i, Math.max(a, GUTTER), y, Math.min(b, width), h, kind);
      }
    }

    label(lane, i, a, y, b, h, kind) {
      const look = this.whole.looks[kind], wide = (b - a) / U;
      let text = look.code;
      if (lane.group === "bubbles") text = wide > 100 ? `${look.code} ${look.name}` : look.code;
      else if (lane.texts.length) text = lane.texts[i] || "";
      else if (kind === 7) text = wide > 40 ? "refused" : "";
      else if (this.names && lane.row[i] >= 0 && wide > 24) text = this.names.text[lane.row[i]].split(" ")[0];
      if (!text || wide < 15) return;
      const pen = this.pen;
      pen.save();
      pen.beginPath();
      pen.rect(a, y, b - a - 1, h);
      pen.clip();
      const tw = Math.min(pen.measureText(text).width + 4, b - a);
      if (look.pattern !== "solid") { pen.fillStyle = look.colour; pen.fillRect(a + 1, y + 2, tw, h - 4); }
      pen.fillStyle = ["#0072b2", "#4a4f5a", "#666a73", "#2b7bba"].includes(look.colour) ? "#fff" : "#10141a";
      pen.fillText(text, a + 3, y + h / 2 + 0.5);
      pen.restore();
    }

    ruler(pen, ink, soft, width, height) {
      const rough = ((this.t1 - this.t0) / this.pixels()) * 110 * U;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough));
      pen.font = FONT;
      pen.textBaseline = "middle";
      for (let t = Math.ceil(this.t0 / step) * step; t < this.t1; t += step) {
        const x = this.x(t);
        pen.fillStyle = soft;
        pen.fillRect(x, RULER - 4, 1, height);
        pen.fillStyle = ink;
        if (x + 60 * U < width) pen.fillText(tk.count(t || 0).replace(/^-0$/, "0"), x + 3, RULER / 2);
      }
      pen.fillStyle = ink;
      pen.fillText("cycles", 6, RULER / 2);
    }

    marks(pen, css, height) {
      const range = this.range();
      if (range) {
        pen.fillStyle = css.getPropertyValue("--range");
        const a = Math.max(GUTTER, this.x(range[0]));
        pen.fillRect(a, 0, Math.max(1, this.x(range[1]) - a), height);
      }
      if (this.chosen) {
        const { time, duration } = this.chosen;
        pen.strokeStyle = css.getPropertyValue("--accent");
        pen.lineWidth = 2;
        for (const { lane, y, h } of this.rows) {
          if (lane.simd !== this.chosen.simd || (lane.slot >= 0 && lane.slot !== this.chosen.slot)) continue;
          if (lane.group !== "slot") continue;
          const a = this.x(time), b = this.x(time + duration);
          if (b > GUTTER) pen.strokeRect(Math.max(a, GUTTER), y + 1, Math.max(2, b - Math.max(a, GUTTER)), h - 2);
        }
      }
    }

    minimap(css) {
      const pen = this.map.getContext("2d"), w = this.whole, width = this.map.clientWidth - GUTTER;
      const scale = width / Math.max(1, w.end - w.begin);
      pen.fillStyle = css.getPropertyValue("--panel");
      pen.fillRect(0, 0, this.map.clientWidth, MAP);
      pen.fillStyle = css.getPropertyValue("--ink");
      pen.font = FONT;
      pen.textBaseline = "middle";
      pen.fillText("whole trace", 6, MAP / 2);
      const lanes = w.lanes.filter((lane) => lane.group === "matrix" || lane.group === "vector").slice(0, 16);
      const h = MAP / Math.max(1, lanes.length);
      lanes.forEach((lane, n) => {
        for (let i = 0; i < lane.count; i++) {
          pen.fillStyle = w.looks[lane.kind[i]].colour;
          pen.fillRect(GUTTER + lane.start[i] * scale, n * h, Math.max(0.6, (lane.end[i] - lane.start[i]) * scale), h - 0.5);
        }
      });
      const a = GUTTER + (this.t0 - w.begin) * scale, b = GUTTER + (this.t1 - w.begin) * scale;
      pen.strokeStyle = css.getPropertyValue("--accent");
      pen.lineWidth = 2;
      pen.strokeRect(Math.max(GUTTER, a) + 1, 1, Math.max(3, Math.min(b, GUTTER + width) - Math.max(GUTTER, a) - 2), MAP - 2);
    }

    zoom(factor, x) {
      const t = x === undefined ? (this.t0 + this.t1) / 2 : this.time(x);
      const w = this.whole, most = (w.end - w.begin) * 1.5 + 16;
      const span = Math.min(most, Math.max(16, (this.t1 - this.t0) * factor));
      const share = (t - this.t0) / (this.t1 - this.t0);
      this.t0 = t - span * share;
      this.t1 = this.t0 + span;
      this.moved();
    }

    pan(share) {
      const w = this.whole, span = this.t1 - this.t0;
      const by = Math.min(w.end - this.t0 - span * 0.05, Math.max(w.begin - this.t1 + span * 0.05, span * share));
      this.t0 += by;
      this.t1 += by;
      this.moved();
    }

    fit(from, to) { this.t0 = from; this.t1 = Math.max(to, from + 16); this.moved(); }

    range() {
      const m = (tk.state.m || "").split(",").map(Number);
      return this.part === "a" && m.length === 2 && m[1] > m[0] ? m : null;
    }

    measure(a, b) {
      const [from, to] = [Math.round(Math.min(a, b)), Math.round(Math.max(a, b))];
      tk.state.m = to > from ? `${from},${to}` : "";
      tk.write();
      const ns = this.whole.mhz ? ` = ${(((to - from) * 1000) / this.whole.mhz).toFixed(1)} ns` : "";
      this.status.textContent = to > from ? `${tk.count(from)} to ${tk.count(to)}: ${tk.count(to - from)} cycles${ns}` : "";
      this.draw();
    }

    hit(x, y) {
      const row = this.rows.find((r) => y >= r.y && y < r.y + r.h);
      if (!row || x < GUTTER) return null;
      const { lane } = row, t = this.time(x) - this.tile.first, slack = (this.t1 - this.t0) / this.pixels();
      for (let i = firstAbove(lane.reach, t - slack), best = null; ; i++) {
        if (i >= lane.count || lane.start[i] > t + slack) return best === null ? null : { lane, i: best };
        if (lane.end[i] > t - slack && (best === null || lane.start[i] <= t)) best = i;
      }
    }

    hover(event) {
      const at = this.hit(event.offsetX, event.offsetY);
      this.tip.hidden = !at;
      if (!at) return;
      const { lane, i } = at, look = this.whole.looks[lane.kind[i]];
      const name = this.names && lane.row[i] >= 0 ? this.names.text[lane.row[i]] : lane.texts[i] || look.meaning || "";
      const merged = lane.fill[i] < 255 && lane.group !== "counter" ? ", several: zoom in" : "";
      this.tip.textContent = `${look.code ? look.code + " " : ""}${look.name}${merged} · ${tk.count(lane.start[i] + this.tile.first)} + ${tk.count(lane.end[i] - lane.start[i])} cycles${name ? " · " + name : ""}`;
      this.tip.style.left = `${Math.min(event.offsetX + 14, this.canvas.clientWidth - 320)}px`;
      this.tip.style.top = `${event.offsetY + 16}px`;
    }

    async click(event) {
      const at = this.hit(event.offsetX, event.offsetY);
      if (!at) return;
      const { lane, i } = at;
      if (lane.group === "bubbles") return this.bubble(1, lane.start[i] + this.tile.first - 0.5, lane.simd, lane, i);
      if (lane.index[i] >= 0 && ["slot", "matrix", "vector"].includes(lane.group)) return this.select(lane.index[i]);
      if (lane.fill[i] < 255) this.zoom(0.25, event.offsetX);
    }

    async select(index, silent) {
      const got = await tk.json("instruction", { capture: this.capture, index }).catch((e) => ({ error: e.message }));
      if (got.error) { this.status.textContent = got.error; return; }
      this.chosen = { ...got, index };
      this.draw();
      const pc = got.vaddr >= 0 ? `${got.object}:0x${got.vaddr.toString(16)}` : "";
      if (this.part === "a" && !silent) tk.set({ i: String(index), pc });
      const busy = got.cycles === null ? "unknown" : `${got.cycles} cycles`;
      this.show([got.text, `SIMD ${got.simd} slot ${got.slot} wave ${got.wave}`, `first attempt ${tk.count(got.time)}`,
        `refused or waiting ${tk.count(got.stall)} cycles`, `to end of issue ${tk.count(got.duration)} cycles`,
        `holds its pipe ${busy}`, pc && `PC ${pc}`, got.source], this.part === "a" ? pc : "");
    }

    show(lines, pc) {
      if (!this.detail) return;
      this.detail.replaceChildren();
      lines.filter(Boolean).forEach((text, n) => {
        const line = document.createElement(n ? "span" : "strong");
        line.textContent = text;
        this.detail.append(line);
      });
      if (!pc) return;
      const button = document.createElement("button");
      button.id = "to-isa";
      button.textContent = "Show in ISA";
      button.dataset.pc = pc;
      this.detail.append(button);
    }

    async bubble(step, after, simd, lane, i) {
      const from = after !== undefined ? after : this.at !== undefined ? this.at : (this.t0 + this.t1) / 2;
      if (lane && lane.index[i] < 0) {
        const look = this.whole.looks[lane.kind[i]];
        return this.show([`${look.code} ${look.name}`, look.meaning, "a short gap, or several: zoom in"]);
      }
      const q = this.query({ after: Math.floor(from), step });
      if (simd !== undefined) q.simd = simd;
      if (lane) q.after = Math.floor(from) - 2 * Math.max(0, lane.end[i] - lane.start[i]);
      const got = await tk.json("bubble", q).catch((e) => ({ error: e.message }));
      if (got.error || got.start === null) { this.status.textContent = got.error || "no further bubble"; return; }
      this.at = got.start;
      if (!lane) this.fit(got.start - Math.max(64, got.cycles), got.start + got.cycles + Math.max(64, got.cycles));
      this.measure(got.start, got.start + got.cycles);
      this.show([`bubble: ${got.cause}`, `SIMD ${got.simd}`, `${tk.count(got.start)} + ${tk.count(got.cycles)} cycles`,
        got.iteration >= 0 && `iteration ${got.iteration}`, got.waves, got.before && `after ${got.before}`, got.after && `before ${got.after}`]);
    }

    async search(step) {
      const text = this.root.querySelector("input.search").value.trim();
      if (!text) return;
      const from = this.chosen ? this.chosen.time : this.t0 - 1;
      const got = await tk.json("find", this.query({ text, after: Math.round(from), step })).catch((e) => ({ error: e.message }));
      if (got.error || !got.count) { this.status.textContent = got.error || `nothing executed matches ${text}`; return; }
      const room = Math.max(200, got.duration * 2);
      this.fit(got.time - room, got.time + got.duration + room);
      await this.select(got.index);
      this.status.textContent = `${tk.count(got.count)} executions match`;
    }

    step(by) {
      const c = this.chosen;
      const lane = c && this.tile.lanes.find((l) => l.group === "slot" && l.simd === c.simd && l.slot === c.slot);
      if (lane) this.select(Math.max(0, c.index + by));
    }

    pressed(event) {
      const x = this.mouse === undefined ? undefined : this.mouse;
      const keys = {
        w: () => this.zoom(0.7, x), s: () => this.zoom(1 / 0.7, x), a: () => this.pan(-0.2), d: () => this.pan(0.2),
        ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), "+": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7),
        0: () => this.fit(this.whole.begin, this.whole.end), Home: () => this.fit(this.whole.begin, this.whole.end),
        n: () => this.bubble(1), p: () => this.bubble(-1), ",": () => this.step(-1), ".": () => this.step(1),
        f: () => { const r = this.chosen ? [this.chosen.time, this.chosen.time + this.chosen.duration] : this.range(); if (r) this.fit(r[0] - 16, r[1] + 16); },
        m: () => this.chosen && this.measure(this.chosen.time, this.chosen.time + this.chosen.duration),
        Escape: () => { this.chosen = null; this.measure(0, 0); },
        "/": () => this.root.querySelector("input.search")?.focus(),
      };
      const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!act) return;
      event.preventDefault();
      act();
    }

    events() {
      const c = this.canvas;
      let drag = null;
      c.addEventListener("contextmenu", (e) => e.preventDefault());
      c.addEventListener("wheel", (e) => {
        if (e.altKey || !this.whole) return;
        e.preventDefault();
        const by = e.deltaY || e.deltaX;
        if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.pan(Math.sign(by) * 0.1);
        else this.zoom(by > 0 ? 1.25 : 0.8, e.offsetX);
      }, { passive: false });
      c.addEventListener("pointerdown", (e) => {
        if (!this.whole) return;
        c.focus({ preventScroll: true }); // else the lanes move under the pointer
        c.setPointerCapture(e.pointerId);
        drag = { x: e.offsetX, t: this.time(e.offsetX), pan: e.shiftKey || e.button === 1, t0: this.t0, t1: this.t1, far: false };
      });
      c.addEventListener("pointermove", (e) => {
        if (!this.whole) return;
        this.mouse = e.offsetX;
        if (!drag) return this.hover(e);
        drag.far ||= Math.abs(e.offsetX - drag.x) > 3;
        if (!drag.far) return;
        if (drag.pan) {
          const by = ((e.offsetX - drag.x) / this.pixels()) * (drag.t1 - drag.t0);
          this.t0 = drag.t0 - by; this.t1 = drag.t1 - by;
          this.moved();
        } else this.measure(drag.t, this.time(e.offsetX));
      });
      c.addEventListener("pointerup", (e) => { const was = drag; drag = null; if (was && !was.far) this.click(e); });
      c.addEventListener("pointerleave", () => { this.tip.hidden = true; this.mouse = undefined; });
      const jump = (e) => {
        if (!e.buttons || !this.whole) return;
        const w = this.whole, span = this.t1 - this.t0;
        const t = w.begin + ((e.offsetX - GUTTER) / (this.map.clientWidth - GUTTER)) * (w.end - w.begin);
        this.t0 = t - span / 2; this.t1 = t + span / 2;
        this.moved();
      };
      this.map.addEventListener("pointerdown", jump);
      this.map.addEventListener("pointermove", jump);
      this.root.querySelectorAll("[data-do]").forEach((b) => b.addEventListener("click", () => this.do(b.dataset.do)));
      this.root.querySelector("input.search")?.addEventListener("keydown", (e) => {
        if (e.key === "Enter") this.search(e.shiftKey ? -1 : 1);
        if (e.key === "Escape") c.focus();
      });
      this.root.querySelector("select.place")?.addEventListener("change", (e) => {
        const [se, d] = e.target.value.split(",");
        tk.set({ se, d, t: "", i: "", m: "" });
      });
    }

    do(name) {
      const range = this.range();
      ({ in: () => this.zoom(0.6), out: () => this.zoom(1 / 0.6), all: () => this.fit(this.whole.begin, this.whole.end),
        next: () => this.bubble(1), previous: () => this.bubble(-1), search: () => this.search(1),
        window: () => (range ? tk.set({ w: `${range[0]}:${range[1]}` }) : tk.say("drag over the lanes to measure a range first")),
      })[name]();
    }
  }

  // Two timelines with one zoom: what B shows is the same part of the same iterations.
  tk.link = async function (a, b) {
    const [one, two] = await Promise.all([a, b].map((each) =>
      tk.json("iterations", { capture: each.capture }).then((got) => got.starts).catch(() => [])));
    const map = (t, from, to) => {
      const n = Math.min(from.length, to.length);
      if (n < 2) return t;
      const i = Math.min(n - 2, Math.max(0, firstAbove(from, t) - 1));
      return to[i] + ((t - from[i]) * (to[i + 1] - to[i])) / Math.max(1, from[i + 1] - from[i]);
    };
    const follow = (x, y, from, to) => {
      x.linked = () => {
        if (!y.whole) return;
        y.t0 = map(x.t0, from, to);
        y.t1 = Math.max(y.t0 + 16, map(x.t1, from, to));
        y.moved(true);
      };
    };
    follow(a, b, one, two);
    follow(b, a, two, one);
  };

  tk.Timeline = Timeline;
  document.addEventListener("keydown", (event) => {
    const line = (tk.timelines || []).find((each) => each.root.contains(document.activeElement)) || (tk.timelines || [])[0];
    if (!line || !line.whole || event.target.closest("input,select,textarea,dialog") || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" && event.target.closest("button")) return;
    line.pressed(event);
  });
  let resizing;
  window.addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => (tk.timelines || []).forEach((line) => { if (line.whole) { line.size(); line.moved(true); } }), 80);
  });
})();

// A timeline: its data, fed by /tk/lanes, the part of it in view, and what is selected.
"use strict";
(function () {
  const { unpack, pattern } = tk.lanes;
  const GROUPS = { slot: "wave slots", scope: "marker scopes", matrix: "matrix pipe", vector: "vector pipe",
    bubbles: "matrix idle", counter: "counters", clock: "shader clock" };

  tk.Timeline = class extends tk.Drawing {
    constructor(root, capture, part) {
      super();
      Object.assign(this, { root, capture, part: part || "a", paints: {}, names: null });
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
      const there = asked.length === 2 && asked[1] > asked[0] && asked[0] < w.end && asked[1] > w.begin;
      [this.t0, this.t1] = there ? asked : [w.begin - span * 0.01, w.end + span * 0.01];
      this.size();
      this.draw();
      this.firstPaint = performance.now() - began;
      this.places();
      this.root.dataset.ready = "lanes";
      try {
        this.whole = this.tile = await this.fetch(null, null, this.pixels(), 1);
        this.names = await tk.json("names", { capture: this.capture });
        this.turns = (await tk.json("iterations", this.query({}))).starts;
        if (this.whole.note) this.status.textContent = this.whole.note;
      } catch (error) { this.status.textContent = error.message; }
      this.legend();
      this.groups();
      this.size();
      this.moved();
      if (this.part === "a" && tk.state.u) this.bubble(1, Number(tk.state.u));
      else if (this.part === "a" && tk.state.i) this.select(Number(tk.state.i));
      this.root.dataset.ready = "all";
    }

    // The screen changed: ask again for what its pixels can show.
    async again() {
      if (!this.whole) return;
      try { this.whole = this.tile = await this.fetch(null, null, this.pixels(), 1); } catch { return; }
      this.size();
      this.moved(true);
    }

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
      if (this.part === "a" && tk.state.se) tk.set({ se: String(this.whole.place[0]), d: String(this.whole.place[1]) });
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

    // The view moved: draw what is here at once, and ask for finer data when it is needed.
    moved(silent) {
      this.tip.hidden = true;
      this.draw();
      tk.state[this.key] = `${Math.round(this.t0)},${Math.round(this.t1)}`;
      tk.write();
      if (!silent && this.linked) this.linked();
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.refine(), 40);
    }

    async refine() {
      const span = this.t1 - this.t0, tile = this.tile;
      const fine = tile.last - tile.first <= 2.4 * span || tile.exact;
      const w = this.whole;
      if (fine && tile.first <= Math.max(this.t0, w.begin) && tile.last >= Math.min(this.t1, w.end)) return;
      const from = Math.max(w.begin - 1, this.t0 - span / 2), to = Math.min(w.end + 1, this.t1 + span / 2);
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

    measure(a, b) {
      const [from, to] = [Math.round(Math.min(a, b)), Math.round(Math.max(a, b))];
      tk.state.m = to > from ? `${from},${to}` : "";
      tk.write();
      const ns = this.whole.mhz ? ` = ${(((to - from) * 1000) / this.whole.mhz).toFixed(1)} ns` : "";
      this.status.textContent = to > from ? `${tk.count(from)} to ${tk.count(to)}: ${tk.count(to - from)} cycles${ns}` : "";
      this.draw();
    }

    // ``of``: an instruction whose wave this one must belong to.
    async select(index, of) {
      const got = await tk.json("instruction", { capture: this.capture, index }).catch((e) => ({ error: e.message }));
      if (got.error) { this.status.textContent = got.error; return; }
      if (of && ["se", "simd", "slot", "wave"].some((name) => of[name] !== got[name])) return;
      this.chosen = { ...got, index };
      this.draw();
      const pc = got.vaddr >= 0 ? `${got.object}:0x${got.vaddr.toString(16)}` : "";
      if (this.part === "a") tk.set({ i: String(index), u: "", pc });
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

    // The next or last bubble from here, or the one that is row ``index`` of the table.
    async bubble(step, index) {
      const seen = this.at >= this.t0 && this.at <= this.t1;
      const from = seen ? { current: this.told, after: this.at } : { after: Math.floor(step > 0 ? this.t0 : this.t1) };
      const q = this.query(index === undefined ? { step, ...from } : { index });
      const got = await tk.json("bubble", q).catch((e) => ({ error: e.message }));
      if (got.error || got.start === null) { this.status.textContent = got.error || "no further bubble"; return; }
      [this.at, this.told, this.chosen] = [got.start, got.index, null];
      if (this.part === "a") tk.set({ u: String(got.index), i: "", pc: "" });
      const room = Math.max(64, got.cycles);
      if (index === undefined) this.fit(got.start - room, got.start + got.cycles + room);
      this.measure(got.start, got.start + got.cycles);
      this.show([`bubble: ${got.cause}`, `SIMD ${got.simd}`, `${tk.count(got.start)} + ${tk.count(got.cycles)} cycles`,
        got.iteration >= 0 && `iteration ${got.iteration}`, got.waves, got.previous_mfma && `after ${got.previous_mfma}`, got.next_mfma && `before ${got.next_mfma}`]);
    }

    async search(step) {
      const text = this.root.querySelector("input.search").value.trim();
      if (!text) return;
      const from = this.chosen ? { after: this.chosen.time, current: this.chosen.index } : { after: Math.round(this.t0) };
      const got = await tk.json("find", this.query({ text, step, ...from })).catch((e) => ({ error: e.message }));
      if (got.error || !got.count) { this.status.textContent = got.error || `nothing executed matches ${text}`; return; }
      const room = Math.max(200, got.duration * 2);
      this.fit(got.time - room, got.time + got.duration + room);
      await this.select(got.index);
      this.status.textContent = `match ${tk.count(got.number)} of ${tk.count(got.count)}`;
    }

    // The instruction before or after the selected one, of the same wave.
    async step(by) {
      const old = this.chosen;
      if (!old || old.index + by < 0) return;
      await this.select(old.index + by, old);
      const { time, duration } = this.chosen;
      if (time < this.t0 || time + duration > this.t1) this.fit(time - (this.t1 - this.t0) / 2, time + (this.t1 - this.t0) / 2);
    }
  };
})();

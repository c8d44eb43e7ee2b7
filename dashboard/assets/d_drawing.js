// What a timeline looks like: lanes, ruler, marks and the minimap, from the data that it has.
"use strict";
(function () {
  const { firstAbove, pattern } = tk.lanes;
  // Lengths follow the text size of the page, which follows the screen (style.css).
  let U = 1, GUTTER = 132, RULER = 34, GAP = 8, MAP = 36, FONT = "";
  function rescale() {
    U = parseFloat(getComputedStyle(document.documentElement).fontSize) / 14;
    [GUTTER, RULER, GAP, MAP] = [132, 34, 8, 36].map((n) => Math.round(n * U));
    FONT = `${11 * U}px system-ui, sans-serif`;
  }
  const THIN = 0.75; // pixels
  const HEIGHT = { slot: 22, scope: 16, matrix: 20, vector: 20, bubbles: 20, counter: 26, clock: 16 };

  tk.Drawing = class {
    get gutter() { return GUTTER; }

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

    pixels() { return Math.max(200, Math.round(this.canvas.clientWidth - GUTTER)); }

    x(t) { return GUTTER + ((t - this.t0) / (this.t1 - this.t0)) * this.pixels(); }

    time(x) { return this.t0 + ((x - GUTTER) / this.pixels()) * (this.t1 - this.t0); }

    paint(kind) {
      return (this.paints[kind] ||= pattern(this.pen, this.whole.looks[kind]));
    }

    draw() {
      if (this.queued) return;
      this.queued = true;
      requestAnimationFrame(() => { this.queued = false; this.frame(); });
    }

    frame() {
      const pen = this.pen, css = getComputedStyle(document.documentElement);
      const ink = css.getPropertyValue("--ink"), soft = css.getPropertyValue("--line");
      const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
      pen.fillStyle = css.getPropertyValue("--panel");
      pen.fillRect(0, 0, width, height);
      this.ruler(pen, css, ink, soft, width, height);
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
        if (lane.group === "bubbles") this.outside(lane, y, h, css);
        this.intervals(lane, y, h, width);
        pen.restore();
      }
      this.marks(pen, css, height);
      this.minimap(css);
    }

    resident(lane, y, h, css) {
      this.pen.fillStyle = css.getPropertyValue("--resident");
      for (const [simd, slot, , begin, end] of this.whole.waves)
        if (simd === lane.simd && slot === lane.slot)
          this.pen.fillRect(this.x(begin), y, Math.max(1, this.x(end) - this.x(begin)), h);
    }

    // Where the window of the numbers does not reach, nothing is said about idle time.
    outside(lane, y, h, css) {
      const pen = this.pen;
      pen.fillStyle = css.getPropertyValue("--ground");
      const edges = [-Infinity, ...lane.window.flat(), Infinity];
      for (let n = 0; n < edges.length; n += 2) {
        const a = Math.max(GUTTER, this.x(edges[n])), b = Math.min(this.canvas.clientWidth, this.x(edges[n + 1]));
        if (b <= a) continue;
        pen.fillStyle = css.getPropertyValue("--ground");
        pen.fillRect(a, y, b - a, h);
        pen.fillStyle = css.getPropertyValue("--soft");
        if (b - a > 130 * U) pen.fillText("outside the window", a + 4, y + h / 2);
      }
    }

    intervals(lane, y, h, width) {
      const pen = this.pen, base = this.tile.first, scale = this.pixels() / (this.t1 - this.t0);
      const shift = GUTTER + (base - this.t0) * scale;
      let last = -1, lastKind = -1, lastStyle = null;
      for (let i = firstAbove(lane.reach, this.t0 - base); i < lane.count; i++) {
        const a = shift + lane.start[i] * scale;
        if (a > width) break;
        const b = shift + lane.end[i] * scale, kind = lane.kind[i];
        if (b <= last && kind === lastKind) continue;
        // What is thinner than can be drawn gets lower instead: ink stays the share of time.
        const w = Math.max(b - a, THIN), part = (h * lane.fill[i] * Math.min(1, (b - a) / THIN)) / 255;
        const tall = lane.group === "counter" ? part : Math.max(3, part);
        // No pattern can be seen on a bar this narrow, and patterns are slow to draw.
        const style = w < 4 ? this.whole.looks[kind].colour : this.paint(kind);
        if (style !== lastStyle) pen.fillStyle = lastStyle = style;
        pen.fillRect(a, y + h - tall, w, tall);
        last = b < a + 1 ? a + 1 : b; lastKind = kind;
        if (w > 3) { pen.fillStyle = lastStyle = "#0006"; pen.fillRect(b - 0.5, y, 0.5, h); }
        if (w > 15 * U) this.label(lane, i, Math.max(a, GUTTER), y, Math.min(b, width), h, kind);
      }
    }

    label(lane, i, a, y, b, h, kind) {
      const look = this.whole.looks[kind], wide = (b - a) / U;
      let text = look.code;
      if (lane.group === "bubbles") text = wide > 100 ? `${look.code} ${look.name}` : look.code;
      else if (lane.texts.length) text = lane.texts[i] || "";
      else if (look.name.startsWith("refused")) text = wide > 40 ? "refused" : "";
      else if (this.names && lane.row[i] >= 0 && wide > 24) text = this.names.text[lane.row[i]].split(" ")[0];
      if (!text || wide < 15) return;
      const pen = this.pen;
      pen.save();
      pen.beginPath();
      pen.rect(a, y, b - a - 1, h);
      pen.clip();
      const tw = Math.min(pen.measureText(text).width + 4, b - a);
      if (look.pattern !== "solid") { pen.fillStyle = look.colour; pen.fillRect(a + 1, y + 2, tw, h - 4); }
      pen.fillStyle = look.ink;
      pen.fillText(text, a + 3, y + h / 2 + 0.5);
      pen.restore();
    }

    ruler(pen, css, ink, soft, width, height) {
      const rough = ((this.t1 - this.t0) / this.pixels()) * 110 * U;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = Math.max(1, [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough));
      pen.font = FONT;
      pen.textBaseline = "middle";
      for (let t = Math.ceil(this.t0 / step) * step; t < this.t1; t += step) {
        const x = this.x(t);
        pen.fillStyle = soft;
        pen.fillRect(x, RULER / 2 - 4, 1, height);
        pen.fillStyle = ink;
        if (x + 60 * U < width) pen.fillText(tk.count(t || 0).replace(/^-0$/, "0"), x + 3, RULER / 3);
      }
      pen.fillStyle = ink;
      pen.fillText("cycles", 6, RULER / 3);
      this.iterations(pen, css);
    }

    // Where iterations of the dominant loop begin, on the SIMD that is first.
    iterations(pen, css) {
      const turns = this.turns || [];
      const first = Math.max(0, firstAbove(turns, this.t0) - 1), last = firstAbove(turns, this.t1);
      if (last - first > this.pixels() / 8) return;
      for (let n = first; n < last; n++) {
        const x = this.x(turns[n]);
        if (x < GUTTER) continue;
        pen.fillStyle = css.getPropertyValue("--accent");
        pen.fillRect(x - 1, RULER * 0.6, 2, RULER * 0.4 + GAP);
        const room = n + 1 < turns.length ? this.x(turns[n + 1]) - x : 0;
        if (room > 150 * U) pen.fillText(`iteration ${n}`, x + 4, RULER * 0.8);
      }
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
      const ratio = window.devicePixelRatio || 1, theme = document.documentElement.dataset.theme;
      if (!this.small || this.small.of !== w || this.small.width !== this.map.width || this.small.theme !== theme)
        this.small = Object.assign(this.overview(css, width, ratio), { of: w, theme });
      pen.drawImage(this.small, 0, 0, this.small.width / ratio, this.small.height / ratio);
      const scale = width / Math.max(1, w.end - w.begin);
      const a = GUTTER + (this.t0 - w.begin) * scale, b = GUTTER + (this.t1 - w.begin) * scale;
      pen.strokeStyle = css.getPropertyValue("--accent");
      pen.lineWidth = 2;
      pen.strokeRect(Math.max(GUTTER, a) + 1, 1, Math.max(3, Math.min(b, GUTTER + width) - Math.max(GUTTER, a) - 2), MAP - 2);
    }

    // The pipes of the whole trace, drawn once: it stays while one zooms.
    overview(css, width, ratio) {
      const made = document.createElement("canvas"), pen = made.getContext("2d"), w = this.whole;
      [made.width, made.height] = [this.map.width, this.map.height];
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
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
          pen.globalAlpha = lane.fill[i] / 255;
          pen.fillRect(GUTTER + lane.start[i] * scale, n * h, Math.max(0.6, (lane.end[i] - lane.start[i]) * scale), h - 0.5);
        }
        pen.globalAlpha = 1;
      });
      return made;
    }

    range() {
      const m = (tk.state.m || "").split(",").map(Number);
      return this.part === "a" && m.length === 2 && m[1] > m[0] ? m : null;
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
  };
})();

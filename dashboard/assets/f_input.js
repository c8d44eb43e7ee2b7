// What keys, wheel and pointer do with a timeline, and two timelines under one zoom.
"use strict";
(function () {
  const { firstAbove } = tk.lanes;

  Object.assign(tk.Timeline.prototype, {
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
    },

    async click(event) {
      const at = this.hit(event.offsetX, event.offsetY);
      if (!at) return;
      const { lane, i } = at;
      if (lane.group === "bubbles") {
        if (lane.index[i] >= 0) return this.bubble(1, lane.index[i]);
        const look = this.whole.looks[lane.kind[i]];
        return this.show([`${look.code} ${look.name}`, look.meaning, "a short gap, or several: zoom in"]);
      }
      if (lane.index[i] >= 0 && ["slot", "matrix", "vector"].includes(lane.group)) return this.select(lane.index[i]);
      if (lane.fill[i] < 255) this.zoom(0.25, event.offsetX);
    },

    pressed(event) {
      const x = this.mouse === undefined ? undefined : this.mouse;
      const keys = {
        w: () => this.zoom(0.7, x), s: () => this.zoom(1 / 0.7, x), a: () => this.pan(-0.2), d: () => this.pan(0.2),
        ArrowLeft: () => this.pan(-0.2), ArrowRight: () => this.pan(0.2), "+": () => this.zoom(0.7), "-": () => this.zoom(1 / 0.7),
        0: () => this.fit(this.whole.begin, this.whole.end), Home: () => this.fit(this.whole.begin, this.whole.end),
        n: () => this.bubble(1), p: () => this.bubble(-1), ",": () => this.step(-1), ".": () => this.step(1),
        f: () => { const r = this.chosen ? [this.chosen.time, this.chosen.time + this.chosen.duration] : this.range(); if (r) this.fit(r[0] - 16, r[1] + 16); },
        m: () => this.chosen && this.measure(this.chosen.time, this.chosen.time + this.chosen.duration),
        Escape: () => { this.chosen = null; this.show(["nothing selected"]); this.measure(0, 0); tk.set({ i: "", u: "", pc: "" }); },
        "/": () => this.root.querySelector("input.search")?.focus(),
      };
      const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
      if (!act) return;
      event.preventDefault();
      act();
    },

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
        const t = w.begin + ((e.offsetX - this.gutter) / (this.map.clientWidth - this.gutter)) * (w.end - w.begin);
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
    },

    do(name) {
      const range = this.range();
      ({ in: () => this.zoom(0.6), out: () => this.zoom(1 / 0.6), all: () => this.fit(this.whole.begin, this.whole.end),
        next: () => this.bubble(1), previous: () => this.bubble(-1),
        window: () => (range ? tk.set({ w: `${range[0]}:${range[1]}` }) : tk.say("drag over the lanes to measure a range first")),
      })[name]();
    },
  });

  // Two timelines with one zoom: what B shows is the same part of the same iterations.
  tk.link = async function (a, b) {
    const [one, two] = await Promise.all([a, b].map((each) =>
      tk.json("iterations", each.query({})).then((got) => got.starts).catch(() => [])));
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

  document.addEventListener("keydown", (event) => {
    const line = (tk.timelines || []).find((each) => each.root.contains(document.activeElement)) || (tk.timelines || [])[0];
    if (!line || !line.whole || event.target.closest("input,select,textarea,dialog") || event.ctrlKey || event.metaKey) return;
    if (event.key === "Enter" && event.target.closest("button")) return;
    line.pressed(event);
  });
  let resizing;
  window.addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(() => (tk.timelines || []).forEach((line) => line.again()), 150);
  });
})();

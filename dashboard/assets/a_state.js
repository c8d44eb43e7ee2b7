// State of the page: kept in the URL hash, so that a link restores it; tk is our one global.
"use strict";
window.tk = {
  // hash name -> whether the server renders by it
  keys: { view: 1, a: 1, b: 1, w: 1, se: 1, d: 1, simd: 1, c: 1, theme: 1,
          t: 0, tb: 0, i: 0, u: 0, pc: 0, m: 0, l: 0 },
  state: {},
  read() {
    const found = {};
    for (const [k, v] of new URLSearchParams(location.hash.slice(1)))
      if (k in tk.keys) found[k] = v;
    return found;
  },
  // A new entry of the browser's history where the view or a capture changes, else the same.
  write(step) {
    const p = new URLSearchParams();
    for (const k in tk.keys) if (tk.state[k] !== undefined && tk.state[k] !== "") p.set(k, tk.state[k]);
    const hash = "#" + p.toString().replace(/%2F/g, "/").replace(/%3A/g, ":").replace(/%2C/g, ",");
    history[step ? "pushState" : "replaceState"](null, "", hash);
  },
  set(patch) {
    if (!tk.started) return; // the address has not been read yet
    if ("w" in patch || "a" in patch) patch = { u: "", ...patch }; // a row of that window's bubbles
    let server = false, step = false;
    for (const k in patch) {
      if ((tk.state[k] || "") === (patch[k] || "")) continue;
      tk.state[k] = patch[k];
      server = server || tk.keys[k] === 1;
      step = step || ["view", "a", "b", "w"].includes(k);
    }
    tk.write(step);
    if (server) tk.send();
  },
  send() {
    const data = {};
    for (const k in tk.keys) if (tk.keys[k] === 1) data[k] = tk.state[k] || "";
    data.theme = tk.theme();
    data.scale = String(parseFloat(getComputedStyle(document.documentElement).fontSize) / 14);
    tk.busy(true);
    window.dash_clientside.set_props("request", { data });
    tk.controls();
  },
  theme() {
    const kept = localStorage.getItem("tk-theme");
    if (tk.state.theme) return tk.state.theme;
    return kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  },
  // An input of our own: Dash's would take the value over.
  input(slot, attributes) {
    const made = document.createElement("input");
    for (const name in attributes) made.setAttribute(name, attributes[name]);
    made.spellcheck = false;
    slot.replaceChildren(made);
    return made;
  },
  controls() {
    const theme = tk.theme();
    document.documentElement.dataset.theme = theme;
    document.body.dataset.agThemeMode = theme;
    document.querySelectorAll("[data-tab]").forEach((b) => {
      b.setAttribute("aria-selected", String(b.dataset.tab === (tk.state.view || "overview")));
    });
    const w = document.getElementById("window");
    if (w && document.activeElement !== w) w.value = tk.state.w || "steady";
  },
  busy(on) {
    const bar = document.getElementById("busy");
    if (!bar) return;
    bar.hidden = !on;
    clearInterval(tk.poll);
    document.getElementById("content").setAttribute("aria-busy", String(on));
    if (!on) return;
    bar.textContent = "working…";
    tk.poll = setInterval(async () => {
      if (!tk.state.a) return;
      const got = await tk.json("progress", { capture: tk.state.a }).catch(() => null);
      if (got && got.total && !got.ready)
        bar.textContent = `decoding: ${(got.done / 1e6).toFixed(1)} of ${(got.total / 1e6).toFixed(1)} MB`;
      else if (got && got.ready) bar.textContent = "analysing…";
    }, 400);
  },
  async json(path, query) {
    const response = await fetch(`/tk/${path}?` + new URLSearchParams(query));
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.error || response.statusText);
    return answer;
  },
  say(text) {
    const box = document.getElementById("toast");
    box.textContent = text;
    box.hidden = false;
    clearTimeout(tk.toasting);
    tk.toasting = setTimeout(() => { box.hidden = true; }, 3500);
  },
  async copy(text, what) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      document.execCommand("copy");
      area.remove();
    }
    tk.copied = text;
    tk.say(`${what} copied: ${text}`);
  },
  count: (n) => Math.round(n).toLocaleString("en-US"),
  // Open the timeline at cycles [from, to), with some room around.
  show(from, to, more) {
    const room = Math.max(64, to - from);
    tk.set({ view: "timeline", t: `${Math.round(from - room)},${Math.round(to + room)}`, ...more });
  },
};

// Buttons, links and keys of the page; what happens when the server has rendered a view.
"use strict";
tk.actions = {
  link: () => tk.copy(location.href, "link"),
  command: () => {
    const root = document.querySelector("#content [data-command]");
    if (root) tk.copy(root.dataset.command, "command");
  },
  png: () => tk.exportPng(),
  svg: () => tk.exportSvg(),
  theme: () => {
    const next = tk.theme() === "dark" ? "light" : "dark";
    localStorage.setItem("tk-theme", next);
    tk.set({ theme: next });
  },
  help: () => document.getElementById("help").showModal(),
  close: () => document.getElementById("help").close(),
};

document.addEventListener("click", (event) => {
  const at = event.target.closest("[data-tab],[data-action],[data-open],[data-goto],[data-pc],[data-csv]");
  if (!at) return;
  const d = at.dataset;
  if (d.tab) tk.set({ view: d.tab });
  else if (d.action) tk.actions[d.action]();
  else if (d.open) {
    const which = d.which || "a";
    if (which === "swap") return tk.set({ a: tk.state.b, b: tk.state.a, t: "", tb: "", i: "", pc: "", m: "" });
    const own = { t: "", tb: "", i: "", u: "", pc: "", m: "", se: "", d: "", simd: "", c: "", w: "" };
    tk.set(which === "a" ? { ...own, a: d.open, view: "overview" } : { b: d.open, tb: "", view: "compare" });
  } else if (d.goto) {
    const [from, to, se, dispatch, u] = d.goto.split(",");
    tk.show(Number(from), Number(to), { se, d: dispatch, u, i: "", pc: "" });
  } else if (d.pc) tk.set({ view: "isa", pc: d.pc });
  else if (d.csv) {
    const [se, dispatch, simd] = (d.only || "").split(","), only = d.only ? { se, dispatch, simd } : {};
    const query = { ...only, name: d.csv, capture: tk.state.a || "", window: tk.state.w || "steady", other: tk.state.b || "" };
    const link = document.createElement("a");
    link.href = "/tk/table.csv?" + new URLSearchParams(query);
    link.download = `tracekit-${d.csv}.csv`;
    link.click();
  }
});

document.addEventListener("change", (event) => {
  const name = event.target.dataset && event.target.dataset.state;
  if (name) tk.set({ [name]: event.target.value });
  if (event.target.id === "window") tk.set({ w: event.target.value.trim() });
});

document.addEventListener("keydown", (event) => {
  if (event.target.id === "window" && event.key === "Enter") {
    tk.set({ w: event.target.value.trim() });
    return;
  }
  if (event.target.closest("input,select,textarea,dialog") || event.ctrlKey || event.metaKey || event.altKey) return;
  const tabs = ["overview", "timeline", "bubbles", "isa", "compare", "open"];
  if (event.key >= "1" && event.key <= "6") tk.set({ view: tabs[Number(event.key) - 1] });
  else if (event.key === "?") tk.actions.help();
  else if (event.key === "T") tk.actions.theme();
});

// An element of a page that was sent as data (dashboard/tree.py).
tk.grow = function (node) {
  if (typeof node === "string") return document.createTextNode(node);
  const [tag, attributes, children] = node, made = document.createElement(tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  made.append(...children.map(tk.grow));
  return made;
};

tk.mounted = function () {
  const root = document.querySelector("#content > [data-render]");
  if (!root || root.dataset.render === tk.rendered) return;
  tk.rendered = root.dataset.render;
  root.querySelectorAll("[data-tree]").forEach((each) => each.replaceChildren(tk.grow(JSON.parse(each.dataset.tree))));
  tk.busy(false);
  tk.timelines = [];
  document.querySelectorAll("[data-timeline]").forEach((root) => {
    tk.timelines.push(new tk.Timeline(root, root.dataset.timeline, root.dataset.part));
  });
  if (tk.timelines.length === 2) tk.link(tk.timelines[0], tk.timelines[1]);
  tk.plots();
  tk.grid();
};

// A click on a cell of a map opens the timeline there.
tk.plots = function (tries = 0) {
  const plots = document.querySelectorAll("#content .js-plotly-plot");
  const wanted = document.querySelectorAll("#content .dash-graph").length;
  plots.forEach((plot) => {
    if (plot.tkBound || !plot.on) return;
    plot.tkBound = true;
    plot.on("plotly_click", (event) => {
      const to = event.points[0] && event.points[0].customdata;
      if (to) tk.show(to[0], to[1], { se: String(to[2]), d: String(to[3]), m: `${to[0]},${to[1]}`, u: "", i: "", pc: "" });
    });
  });
  if (plots.length < wanted && tries < 60) setTimeout(() => tk.plots(tries + 1), 100);
};

tk.grid = function (tries = 0) {
  if (!document.getElementById("source")) return; // the grid itself is loaded later
  let api = null;
  try { api = window.dash_ag_grid && dash_ag_grid.getApi("isa"); } catch { api = null; }
  if (!api || api.isDestroyed() || !api.getDisplayedRowCount()) { // the rows come after the grid
    if (tries < 600) setTimeout(() => tk.grid(tries + 1), 100);
    return;
  }
  tk.api = api;
  const show = (row) => {
    tk.set({ pc: row.pc });
    tk.source(row);
  };
  api.addEventListener("rowClicked", (event) => show(event.data));
  api.addEventListener("cellFocused", (event) => {
    const node = api.getDisplayedRowAtIndex(event.rowIndex);
    if (node && node.data.pc !== tk.state.pc) show(node.data);
  });
  api.addEventListener("cellDoubleClicked", (event) => tk.follow(event.data.pc));
  let there = null, loop = null;
  api.forEachNode((node) => {
    if (tk.state.pc && node.data.pc === tk.state.pc) there = node;
    if (!loop && node.data.loop.includes("★")) loop = node;
  });
  if (there) {
    api.ensureIndexVisible(there.rowIndex, "middle");
    api.setFocusedCell(there.rowIndex, "instruction");
    tk.source(there.data);
  } else if (loop) api.ensureIndexVisible(loop.rowIndex, "middle");
  const ran = document.getElementById("ran");
  ran.addEventListener("click", () => {
    const on = ran.getAttribute("aria-pressed") !== "true";
    ran.setAttribute("aria-pressed", String(on));
    api.setFilterModel(on ? { hits: { filterType: "number", type: "greaterThan", filter: 0 } } : null);
  });
};

// The inline stack of a line, innermost first.
tk.source = function (row) {
  const box = document.getElementById("source");
  box.replaceChildren();
  const add = (name, text) => {
    const line = document.createElement(name);
    line.textContent = text;
    box.append(line);
    return line;
  };
  add("h3", `${row.address}  ${row.instruction}`);
  const stack = row.source ? row.source.split(" -> ") : [];
  if (!stack.length) add("p", "No source is mapped to this line: build with -g, or give --source-root.").className = "note";
  const list = add("ol", "");
  for (const frame of stack) {
    const item = document.createElement("li");
    item.textContent = frame;
    list.append(item);
  }
  if (stack.length && row.pc) tk.sourceText(row.pc, list);
  if (row.pc && row.hits > 0) {
    const button = add("button", "Show in the timeline");
    button.id = "to-timeline";
    button.addEventListener("click", () => tk.follow(row.pc));
  } else add("p", "Not executed by a traced wave.").className = "note";
};

// The lines of the files under each frame, where the server may read them.
tk.sourceText = async function (pc, list) {
  const got = await tk.json("source", { capture: tk.state.a, pc }).catch(() => ({ frames: [] }));
  if (!list.isConnected) return;
  got.frames.forEach((frame, n) => {
    const item = list.children[n], at = Number(frame.frame.split(":").pop());
    const text = document.createElement(frame.lines.length ? "pre" : "p");
    text.className = frame.lines.length ? "text" : "note";
    if (!frame.lines.length) text.textContent = frame.note;
    frame.lines.forEach((line, i) => {
      const one = document.createElement("div");
      one.textContent = `${String(frame.first + i).padStart(5)}  ${line}`;
      if (frame.first + i === at) one.className = "here";
      text.append(one);
    });
    item.append(text);
  });
};

tk.follow = async function (pc) {
  const query = { capture: tk.state.a, text: pc, se: tk.state.se || 0, dispatch: tk.state.d || -1 };
  if (!tk.state.se) delete query.se;
  const found = await tk.json("find", query).catch((error) => ({ count: 0, error }));
  if (!found.count) return tk.say("no traced wave of this shader engine ran that instruction");
  tk.show(found.time, found.time + found.duration, { pc, i: String(found.index) });
};

(function start() {
  const content = document.getElementById("content");
  if (!content || !window.dash_clientside || !window.dash_clientside.set_props) return setTimeout(start, 30);
  tk.input(document.getElementById("window-slot"), { id: "window", list: "windows", "aria-label": "window" });
  new MutationObserver(() => tk.mounted()).observe(content, { childList: true, subtree: true, attributeFilter: ["data-render"] });
  const given = JSON.parse(document.getElementById("start").dataset.start);
  tk.state = { ...given, ...tk.read() };
  tk.started = true;
  window.addEventListener("hashchange", () => {
    tk.state = { ...given, ...tk.read() };
    tk.send();
  });
  tk.write();
  tk.send();
})();

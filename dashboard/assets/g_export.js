// PNG of any view, SVG of its figures.  The page is drawn by the browser itself, from a copy.
"use strict";
tk.save = function (data, name) {
  const link = document.createElement("a");
  link.href = typeof data === "string" ? data : URL.createObjectURL(data);
  link.download = name;
  link.click();
  if (typeof data !== "string") setTimeout(() => URL.revokeObjectURL(link.href), 10000);
};

tk.fileName = (end) => `tracekit-${tk.state.view || "overview"}.${end}`;

tk.exportSvg = async function () {
  const plots = [...document.querySelectorAll("#content .js-plotly-plot")];
  if (!plots.length) return tk.say("this view has no Plotly figure: use PNG or CSV");
  for (const [n, plot] of plots.entries()) {
    const url = await Plotly.toImage(plot, { format: "svg", width: plot.clientWidth, height: plot.clientHeight });
    const text = decodeURIComponent(url.slice(url.indexOf(",") + 1));
    tk.save(new Blob([text], { type: "image/svg+xml" }), tk.fileName(n ? `${n + 1}.svg` : "svg"));
  }
};

tk.exportPng = async function () {
  const root = document.getElementById("content");
  const { width } = root.getBoundingClientRect();
  const height = Math.min(root.scrollHeight, 8000);
  const copy = root.cloneNode(true);
  const originals = [...root.querySelectorAll("canvas, .js-plotly-plot")];
  const copies = [...copy.querySelectorAll("canvas, .js-plotly-plot")];
  for (const [n, each] of originals.entries()) {
    const box = each.getBoundingClientRect();
    if (!box.width || !each.isConnected || !copies[n] || each.closest(".js-plotly-plot") !== each && each.closest(".js-plotly-plot")) continue;
    const image = document.createElement("img");
    image.src = each.tagName === "CANVAS" ? each.toDataURL() : await Plotly.toImage(each, { format: "png", scale: 2, width: box.width, height: box.height });
    const { display, verticalAlign } = getComputedStyle(each);
    image.style.cssText = `width:${box.width}px;height:${box.height}px;display:${display};vertical-align:${verticalAlign}`;
    copies[n].replaceWith(image);
  }
  copy.querySelectorAll("script,iframe").forEach((each) => each.remove());
  const rules = [...document.styleSheets].flatMap((sheet) => {
    try { return [...sheet.cssRules].map((rule) => rule.cssText); } catch { return []; }
  });
  const style = document.createElement("style");
  style.textContent = rules.filter((rule) => !rule.includes("url(")).join("\n");
  const html = document.createElement("div");
  html.setAttribute("xmlns", "http://www.w3.org/1999/xhtml");
  html.dataset.theme = tk.theme();
  html.dataset.agThemeMode = tk.theme();
  html.className = "page";
  html.style.width = `${width}px`;
  html.append(style, copy);
  const text = new XMLSerializer().serializeToString(html);
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">` +
    `<foreignObject width="100%" height="100%">${text}</foreignObject></svg>`;
  const image = new Image();
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svg);
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext("2d");
  pen.fillStyle = getComputedStyle(document.body).backgroundColor;
  pen.fillRect(0, 0, width, height);
  pen.drawImage(image, 0, 0);
  canvas.toBlob((blob) => tk.save(blob, tk.fileName("png")), "image/png");
};

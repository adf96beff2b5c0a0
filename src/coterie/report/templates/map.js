// The map: points by cluster, density lines, hover, zoom, brush.
const MOST_SVG = 4000, MOST_WITHOUT_GL = 12_000, MOST_NUMBERED = 30;
const mapState = { by: "cluster", cluster: null, drawn: false };
let groups = []; // of each trace after the lines: its label and its points

const hasGl = () => {
  try { return Boolean(document.createElement("canvas").getContext("webgl")); } catch { return false; }
};

function groupPoints() {
  const n = MAP.x.length;
  const gl = n > MOST_SVG && hasGl();
  const step = n > MOST_SVG && !gl ? Math.ceil(n / MOST_WITHOUT_GL) : 1;
  const byLabel = new Map();
  for (let point = 0; point < n; point += step) {
    const label = DATA.structured ? MAP.label[point] : 0;
    if (!byLabel.has(label)) byLabel.set(label, []);
    byLabel.get(label).push(point);
  }
  groups = [...byLabel].sort((a, b) => a[0] - b[0]).map(([label, points]) => ({
    label, points: Int32Array.from(points), type: gl ? "scattergl" : "scatter",
    x: Float32Array.from(points, (p) => MAP.x[p]), y: Float32Array.from(points, (p) => MAP.y[p]),
  }));
}

function markerOf(group, colors) {
  const n = MAP.x.length, mark = markOf(group.label);
  const size = (n < 500 ? 8 : n < 4000 ? 6.5 : n < 20_000 ? 4.5 : 3.2) * (byId("plane").clientWidth < 500 ? 0.8 : 1);
  const faded = mapState.cluster !== null && mapState.cluster !== group.label;
  const opacity = faded ? 0.1 : n < 4000 ? 0.82 : n < 20_000 ? 0.6 : 0.45;
  const marker = { size, opacity, symbol: DATA.structured ? mark.shape : "circle" };
  if (n < 4000) marker.line = { width: group.label === -1 ? 1.2 : 0.5, color: group.label === -1 ? color("c-1") : color("raised") };
  if (!colors) return { ...marker, color: DATA.structured ? color(`c${mark.color}`) : color("c0") };
  return {
    ...marker, color: Float32Array.from(group.points, (p) => colors.values[p]), colorscale: colors.scale,
    cmin: colors.range[0], cmax: colors.range[1], showscale: false,
  };
}

function densityTrace() {
  const width = MAP.density.x.length;
  const z = Array.from(MAP.density.y, (_, i) => MAP.density.inside.subarray(i * width, (i + 1) * width));
  return {
    type: "contour", x: MAP.density.x, y: MAP.density.y, z, hoverinfo: "skip", showscale: false, autocontour: false,
    contours: { start: 0.1, end: 0.9, size: 0.2, coloring: "none", showlabels: false },
    line: { width: 1, color: color("contour"), smoothing: 1 }, opacity: 0.75,
  };
}

// The number of each cluster at the one of its points that is nearest to their middle.
function numbers() {
  if (CLUSTERS.size < 2 || CLUSTERS.size > MOST_NUMBERED) return [];
  const median = (values) => Float32Array.from(values).sort()[values.length >> 1];
  const middle = ({ x, y }) => {
    const across = median(x), up = median(y), far = (i) => Math.hypot(x[i] - across, y[i] - up);
    let at = 0;
    for (let i = 1; i < x.length; i += 1) if (far(i) < far(at)) at = i;
    return { x: x[at], y: y[at] };
  };
  return groups.filter((group) => CLUSTERS.has(group.label)).map((group) => ({
    ...middle(group), text: `<b>${Number(group.label)}</b>`, showarrow: false, borderpad: 2,
    font: { size: 13, color: color("ink") }, bgcolor: color("raised"), bordercolor: color(`c${markOf(group.label).color}`), borderwidth: 2,
    opacity: mapState.cluster === null || mapState.cluster === group.label ? 0.92 : 0.25,
  }));
}

function mapTraces() {
  const colors = mapState.by === "cluster" || mapState.by === "none" ? null : colorsBy(mapState.by);
  showLegend(colors?.legend);
  const traces = groups.map((group) => ({
    type: group.type, mode: "markers", x: group.x, y: group.y, hoverinfo: "none", marker: markerOf(group, colors),
    selected: { marker: { opacity: 0.95 } }, unselected: { marker: { opacity: 0.15 } },
  }));
  return MAP.density ? [densityTrace(), ...traces] : traces;
}

function mapLayout() {
  const old = byId("plane").layout;
  const axis = (name, title) => ({
    title: { text: plain(title, 60), standoff: 8 }, zeroline: false,
    ...(old ? { range: [...old[name].range], autorange: false } : {}),
  });
  return layoutOf({
    xaxis: axis("xaxis", MAP.axes[0]), yaxis: { ...axis("yaxis", MAP.axes[1]), showticklabels: MAP.axes[1] !== "" }, annotations: numbers(), uirevision: "same",
    dragmode: old ? old.dragmode : matchMedia("(pointer: coarse)").matches ? false : "pan", selectdirection: "any",
    newselection: { line: { color: color("ink"), width: 1.5 } }, margin: { l: 52, r: 12, t: 12, b: 48 },
  });
}

const traceShift = () => (MAP.density ? 1 : 0);
const pointAt = (hit) => groups[hit.curveNumber - traceShift()]?.points[hit.pointNumber];

function drawMap() {
  const box = byId("plane");
  if (!mapState.drawn) groupPoints();
  Plotly.react(box, mapTraces(), mapLayout(), { displayModeBar: false, responsive: true, doubleClick: "reset", showTips: false });
  if (mapState.drawn) return;
  mapState.drawn = true;
  markDrag();
  box.on("plotly_hover", (event) => showTip(pointAt(event.points.at(-1)), event.event));
  box.on("plotly_unhover", hideTip);
  box.on("plotly_click", (event) => {
    const point = pointAt(event.points.at(-1));
    if (point !== undefined && DATA.structured) chooseCluster(MAP.label[point]);
  });
  box.on("plotly_selected", (event) => {
    if (event?.points && box.layout.selections?.length) listRows(event.points.map(pointAt).filter((point) => point !== undefined), "in the region");
  });
}

function showTip(point, at) {
  if (point === undefined) return;
  const tip = byId("tip");
  const table = make("table");
  const line = (name, text) => {
    const row = make("tr");
    row.append(make("th", {}, name), make("td", {}, text));
    table.append(row);
  };
  if (DATA.structured) line("confidence", short(MAP.confidence[point], 3) + (MAP.ambiguous[point] ? ", ambiguous" : ""));
  for (const column of MAP.columns.slice(0, 14)) line(column.name, cell(column, point) || "missing");
  tip.replaceChildren(make("p", { class: "tip-head" }, `row ${MAP.row[point]}` + (DATA.structured ? ` · ${nameOf(MAP.label[point])}` : "")), table);
  tip.hidden = false;
  const x = at.clientX ?? at.touches?.[0]?.clientX ?? 0, y = at.clientY ?? at.touches?.[0]?.clientY ?? 0;
  tip.style.left = `${Math.max(8, Math.min(x + 16, innerWidth - tip.offsetWidth - 8))}px`;
  tip.style.top = `${Math.max(8, y + 16 + tip.offsetHeight > innerHeight ? y - tip.offsetHeight - 12 : y + 16)}px`;
}
const hideTip = () => { byId("tip").hidden = true; };

function clearBrush() {
  if (!byId("plane").layout?.selections?.length) return;
  Plotly.restyle(byId("plane"), { selectedpoints: [null] });
  Plotly.relayout(byId("plane"), { selections: [] });
}

// Zoom by a factor about the middle, or move by parts of the view.
function look(factor, right = 0, up = 0) {
  const { xaxis, yaxis } = byId("plane").layout;
  const view = (range, shift) => {
    const half = ((range[1] - range[0]) / 2) * factor, middle = (range[0] + range[1]) / 2 + shift * (range[1] - range[0]);
    return [middle - half, middle + half];
  };
  Plotly.relayout(byId("plane"), { "xaxis.range": view(xaxis.range, right), "yaxis.range": view(yaxis.range, up) });
}
const lookAtAll = () => Plotly.relayout(byId("plane"), { "xaxis.autorange": true, "yaxis.autorange": true });

function listView() {
  const { xaxis, yaxis } = byId("plane").layout;
  const inside = (range, value) => value >= Math.min(...range) && value <= Math.max(...range);
  const points = [];
  MAP.x.forEach((x, point) => {
    const wanted = mapState.cluster === null || MAP.label[point] === mapState.cluster;
    if (wanted && inside(xaxis.range, x) && inside(yaxis.range, MAP.y[point])) points.push(point);
  });
  listRows(points, mapState.cluster === null ? "in view" : `of ${nameOf(mapState.cluster)} in view`);
  byId("rows-title").focus();
}

const markDrag = () => all("[data-drag]").forEach((button) => button.setAttribute("aria-pressed", String(button.dataset.drag === byId("plane").layout.dragmode)));

if (MAP) {
  mapState.by = byId("color-by").value;
  byId("color-by").addEventListener("change", (event) => { mapState.by = event.target.value; drawMap(); });
  all("[data-drag]").forEach((button) => button.addEventListener("click", () => {
    const mode = byId("plane").layout.dragmode === button.dataset.drag ? false : button.dataset.drag;
    Plotly.relayout(byId("plane"), { dragmode: mode }).then(markDrag);
  }));
  byId("zoom-in").addEventListener("click", () => look(0.7));
  byId("zoom-out").addEventListener("click", () => look(1 / 0.7));
  byId("zoom-reset").addEventListener("click", lookAtAll);
  byId("rows-in-view").addEventListener("click", listView);
  const keys = {
    ArrowLeft: () => look(1, -0.15), ArrowRight: () => look(1, 0.15), ArrowUp: () => look(1, 0, 0.15), ArrowDown: () => look(1, 0, -0.15),
    "+": () => look(0.7), "=": () => look(0.7), "-": () => look(1 / 0.7), 0: lookAtAll, Enter: listView,
  };
  byId("plane").addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
}

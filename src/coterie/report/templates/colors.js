// Colours of the points by a column: a number for every point, a scale, and a legend.
const RAMPS = {
  light: ["#0a2a5e", "#4b5a78", "#857f75", "#bda54f", "#e0b400"],
  dark: ["#3f6fb5", "#7f93ab", "#b3ab93", "#dcc763", "#ffe94a"],
};
const N_COLORS = 7;

// What `color-by` names, as a column.
function columnBy(choice) {
  if (choice === "confidence") return { name: "confidence", levels: null, values: MAP.confidence };
  if (choice === "ambiguous") return { name: "ambiguous", levels: ["clear", "ambiguous"], values: MAP.ambiguous };
  return MAP.columns[Number(choice)];
}

function numericColors(column) {
  let low = Infinity, high = -Infinity, missing = 0;
  for (const value of column.values) {
    if (Number.isNaN(value)) { missing += 1; continue; }
    if (value < low) low = value;
    if (value > high) high = value;
  }
  const span = high - low || 1;
  const ramp = RAMPS[root.dataset.theme];
  // A fifth of the scale, below 0, is for missing cells.
  const scale = [[0, color("c-1")], [0.19, color("c-1")], ...ramp.map((shade, i) => [0.2 + 0.8 * (i / (ramp.length - 1)), shade])];
  return {
    values: Float32Array.from(column.values, (value) => (Number.isNaN(value) ? -0.25 : (value - low) / span)),
    scale, range: [-0.25, 1],
    legend: { name: column.name, ramp, low: short(low), high: short(high), missing },
  };
}

function levelColors(column) {
  const counts = new Array(column.levels.length).fill(0);
  let missing = 0;
  for (const code of column.values) Number.isNaN(code) ? (missing += 1) : (counts[code] += 1);
  const order = counts.map((_, code) => code).sort((a, b) => counts[b] - counts[a] || a - b);
  const place = new Map(order.slice(0, N_COLORS).map((code, i) => [code, i]));
  const shades = [color("c-1"), ...[...place.keys()].map((_, i) => color(`c${i}`)), color("line")];
  const n = shades.length;
  return {
    values: Float32Array.from(column.values, (code) => (Number.isNaN(code) ? 0 : (place.get(code) ?? place.size) + 1)),
    scale: shades.flatMap((shade, i) => [[i / n, shade], [(i + 1) / n, shade]]),
    range: [-0.5, n - 0.5],
    legend: {
      name: column.name, missing, items: [...place].map(([code, i]) => [color(`c${i}`), column.levels[code], counts[code]]),
      n_others: order.length - place.size,
    },
  };
}

const colorsBy = (choice) => {
  const column = columnBy(choice);
  return column.levels ? levelColors(column) : numericColors(column);
};

// The legend under the map; clusters have theirs in the buttons above it.
function showLegend(legend) {
  const box = byId("legend");
  box.hidden = !legend;
  box.replaceChildren();
  if (!legend) return;
  box.append(make("strong", {}, legend.name));
  const item = (shade, text) => {
    const line = make("span");
    line.append(make("span", { class: "sign", style: `color:${shade}`, "aria-hidden": "true" }, "●"), text);
    box.append(line);
  };
  if (legend.ramp) {
    box.append(make("span", {}, legend.low), make("span", { class: "ramp", style: `background:linear-gradient(90deg,${legend.ramp.join(",")})`, "aria-hidden": "true" }), make("span", {}, legend.high));
  }
  for (const [shade, level, count] of legend.items ?? []) item(shade, `${level} (${count})`);
  if (legend.n_others > 0) item(color("line"), `${legend.n_others} other levels`);
  if (legend.missing) item(color("c-1"), `missing (${legend.missing})`);
}

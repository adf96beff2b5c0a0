// The other drawings: of each a function from the data to traces and a layout.
const line = (extra) => ({ type: "line", line: { color: color("ink"), width: 2 }, ...extra });
const note = (extra) => ({ showarrow: false, font: { color: color("ink"), size: 12 }, ...extra });
const clusterColor = (label) => color(`c${markOf(label).color}`);
const MARKS = ["circle", "diamond", "square", "triangle-up", "cross", "x", "star"];
const DASHES = ["solid", "dash", "dot", "dashdot"];

const CHARTS = {
  null_replay({ observed, null: draws, score }) {
    const right = draws.length ? observed >= (Math.min(...draws) + Math.max(...draws)) / 2 : true;
    return {
      traces: [{ type: "histogram", x: draws, nbinsx: Math.max(8, Math.min(24, Math.round(draws.length / 4))), marker: { color: color("contour"), opacity: 0.75, line: { width: 1, color: color("paper") } }, hovertemplate: "%{y} draws<extra></extra>" }],
      layout: layoutOf({
        xaxis: { title: { text: plain(score) } }, yaxis: { title: { text: "draws" } }, bargap: 0.04,
        shapes: [line({ x0: observed, x1: observed, y0: 0, y1: 1, yref: "paper", line: { color: color("accent"), width: 2.5 } })],
        annotations: [note({ x: observed, y: 1, yref: "paper", yanchor: "top", xanchor: right ? "right" : "left", xshift: right ? -6 : 6, text: `these rows: ${short(observed, 3)}` })],
      }),
    };
  },

  stability(_, box) {
    const shown = DATA.clusters.filter((cluster) => cluster.stability);
    const narrow = box.clientWidth < 520;
    return {
      traces: [{
        type: "scatter", mode: "markers", y: shown.map((_, i) => i), x: shown.map(({ stability }) => stability.jaccard),
        marker: { size: 11, color: shown.map((cluster) => color(`c${cluster.color}`)), symbol: shown.map((cluster) => cluster.shape) },
        error_x: {
          type: "data", symmetric: false, thickness: 2, width: 5, color: color("soft"),
          array: shown.map(({ stability }) => stability.high - stability.jaccard), arrayminus: shown.map(({ stability }) => stability.jaccard - stability.low),
        },
        hoverinfo: "text", hovertext: shown.map(({ name, stability }) => `${plain(name)}: ${short(stability.jaccard, 3)} (${short(stability.low, 3)} to ${short(stability.high, 3)})`),
      }],
      layout: layoutOf({
        margin: { l: 20, r: 16, t: 22, b: 40 }, xaxis: { range: [0, 1.03], dtick: 0.25 },
        yaxis: { range: [shown.length - 0.5, -0.5], tickvals: shown.map((_, i) => i), ticktext: shown.map(({ label, name }) => `${label} ${plain(name, narrow ? 14 : 40)}`), showgrid: false, zeroline: false },
        shapes: [line({ x0: 0.85, x1: 0.85, y0: 0, y1: 1, yref: "paper", line: { color: color("soft"), width: 1, dash: "dot" } })],
        annotations: [note({ x: 0.85, y: 1, yref: "paper", yanchor: "bottom", text: "stable from here", font: { size: 11, color: color("soft") } })],
      }),
    };
  },

  silhouette({ by_cluster: parts, mean }, box) {
    const narrow = box.clientWidth < 520, traces = [], ticks = [], names = [];
    let at = 0;
    const total = parts.reduce((sum, part) => sum + part.values.length, 0);
    for (const { label, values } of parts) {
      const tall = Math.max(values.length, total * 0.03); // the small are drawn thicker, to be seen
      const y = values.map((_, i) => at + (i * tall) / values.length);
      traces.push({
        type: "scatter", mode: "lines", x: [0, ...values, 0], y: [at, ...y, at + tall], fill: "tozerox", line: { width: 0.5, color: clusterColor(label) },
        fillcolor: clusterColor(label), hoverinfo: "x", xhoverformat: ".2f",
      });
      ticks.push(at + tall / 2);
      names.push(`${label} ${plain(nameOf(label), narrow ? 10 : 32)}`);
      at += tall + Math.max(total * 0.01, 0.5);
    }
    return {
      traces,
      layout: layoutOf({
        margin: { l: 20, r: 16, t: 22, b: 44 }, xaxis: { title: { text: "silhouette" }, zeroline: true, zerolinecolor: color("soft") },
        yaxis: { tickvals: ticks, ticktext: names, range: [at, 0], showgrid: false, zeroline: false },
        shapes: [line({ x0: mean, x1: mean, y0: 0, y1: 1, yref: "paper", line: { color: color("ink"), width: 1.5, dash: "dash" } })],
        annotations: [note({ x: mean, y: 1, yref: "paper", yanchor: "bottom", text: `mean ${short(mean, 2)}` })],
      }),
    };
  },

  // Small drawings, one a criterion, each in its own units.
  choice_of_k({ k, criteria, recommended }, box) {
    const columns = Math.max(1, Math.min(3, Math.floor(box.clientWidth / 240), criteria.length));
    const lines = Math.ceil(criteria.length / columns), traces = [], layout = layoutOf({ margin: { l: 44, r: 8, t: 26, b: 34 } });
    layout.annotations = [];
    layout.shapes = [];
    const gap = { x: 0.28 / columns, y: 0.34 / lines };
    criteria.forEach((criterion, i) => {
      const n = i ? String(i + 1) : "", column = i % columns, row = Math.floor(i / columns);
      const left = column * (1 + gap.x) / columns, right = left + (1 + gap.x) / columns - gap.x;
      const top = 1 - row * (1 + gap.y) / lines, bottom = top - (1 + gap.y) / lines + gap.y;
      const shade = criterion.weak ? color("soft") : color("accent");
      traces.push({
        type: "scatter", mode: "lines+markers", x: k, y: criterion.values, xaxis: `x${n}`, yaxis: `y${n}`, line: { color: shade, width: 2, dash: criterion.weak ? "dot" : "solid" },
        marker: { color: shade, size: k.map((v) => (v === criterion.pick ? 11 : 4)), symbol: k.map((v) => (v === criterion.pick ? "circle-open" : "circle")), line: { width: k.map((v) => (v === criterion.pick ? 2.5 : 0)) } },
        hoverinfo: "text", hovertext: criterion.values.map((value, j) => `k = ${k[j]}: ${short(value, 5)}`),
      });
      const axis = { ...layoutOf().xaxis, automargin: false, tickfont: { size: 10 } };
      layout[`xaxis${n}`] = { ...axis, domain: [left, right], anchor: `y${n}`, dtick: Math.max(1, Math.ceil(k.length / 8)), tick0: k[0], showgrid: false };
      layout[`yaxis${n}`] = { ...axis, domain: [bottom, top], anchor: `x${n}`, nticks: 4 };
      layout.shapes.push(line({ xref: `x${n}`, yref: `y${n} domain`, x0: recommended, x1: recommended, y0: 0, y1: 1, layer: "below", line: { color: color("line"), width: 7 } }));
      layout.annotations.push(note({ xref: "paper", yref: "paper", x: left, y: top, xanchor: "left", yanchor: "bottom", yshift: 3, text: `<b>${plain(criterion.label, 40)}</b>${criterion.pick === null ? "" : ` picks ${criterion.pick}`}` }));
    });
    return { traces, layout, height: 60 + 150 * lines };
  },

  bic({ k, curves, best }) {
    const traces = curves.map((curve, i) => ({
      type: "scatter", mode: "lines+markers", name: plain(curve.name, 30), x: k, y: curve.values, connectgaps: false,
      line: { color: color(`c${i % 7}`), width: 2, dash: DASHES[Math.floor(i / 7) % 4] }, marker: { symbol: MARKS[i % 7], size: 7, color: color(`c${i % 7}`) },
      hoverinfo: "text", hovertext: curve.values.map((value, j) => `${plain(curve.name)}, ${k[j]}: ${short(value, 7)}`),
    }));
    const won = curves.find((curve) => curve.name === best.name)?.values[k.indexOf(best.k)];
    if (won !== undefined && won !== null) {
      traces.push({ type: "scatter", mode: "markers", showlegend: false, hoverinfo: "skip", x: [best.k], y: [won], marker: { symbol: "circle-open", size: 17, color: color("ink"), line: { width: 2 } } });
    }
    return { traces, layout: layoutOf({ showlegend: true, legend: { orientation: "h", y: -0.22 }, xaxis: { title: { text: "components" }, dtick: Math.max(1, Math.ceil(k.length / 12)) }, yaxis: { title: { text: "BIC, low is better" } } }) };
  },

  dendrogram({ segments, leaf_sizes: sizes, cut }) {
    const x = [], y = [], feet = new Set();
    for (const [across, heights] of segments) {
      x.push(...across, null);
      y.push(...heights, null);
      across.forEach((at, i) => { if (heights[i] === 0) feet.add(at); });
    }
    const leaves = [...feet].sort((a, b) => a - b);
    const labelled = leaves.length === sizes.length, apart = leaves.length > 1 ? leaves[1] - leaves[0] : 1;
    return {
      traces: [{ type: "scatter", mode: "lines", x, y, line: { color: color("ink"), width: 1.4 }, hoverinfo: "y", yhoverformat: ".4g" }],
      layout: layoutOf({
        xaxis: { showgrid: false, zeroline: false, range: [leaves[0] - 0.5 * apart, leaves.at(-1) + 0.5 * apart], tickvals: labelled ? leaves : [], ticktext: labelled ? sizes.map(String) : [], title: { text: labelled ? "rows at each leaf" : "" } },
        yaxis: { title: { text: "height" }, rangemode: "tozero" },
        shapes: [line({ x0: 0, x1: 1, xref: "paper", y0: cut, y1: cut, line: { color: color("accent"), width: 2, dash: "dash" } })],
        annotations: [note({ x: 1, xref: "paper", y: cut, xanchor: "right", yanchor: "bottom", text: `cut at ${short(cut, 3)}`, font: { color: color("accent"), size: 12 } })],
      }),
    };
  },

  k_distances({ k, values, eps }) {
    const has = eps !== null;
    return {
      traces: [{ type: "scatter", mode: "lines", x: values.map((_, i) => (100 * (i + 1)) / values.length), y: values, line: { color: color("c0"), width: 2 }, hovertemplate: "%{x:.0f} % of rows: at most %{y:.4g}<extra></extra>" }],
      layout: layoutOf({
        xaxis: { title: { text: "rows, in per cent" } }, yaxis: { title: { text: `distance to neighbour ${k}` }, rangemode: "tozero" },
        shapes: has ? [line({ x0: 0, x1: 1, xref: "paper", y0: eps, y1: eps, line: { color: color("accent"), width: 2, dash: "dash" } })] : [],
        annotations: has ? [note({ x: 0, xref: "paper", y: eps, xanchor: "left", yanchor: "bottom", text: `eps = ${short(eps, 3)}` })] : [],
      }),
    };
  },

  memberships({ row, values }) {
    return {
      traces: DATA.clusters.map((cluster, j) => ({
        type: "bar", x: row.map((_, i) => i), y: values.map((own) => own[j] ?? 0), marker: { color: color(`c${cluster.color}`), line: { width: 0 }, pattern: { shape: ["", "/", "x", ".", "+", "|", "-"][Math.floor(j / 7) % 7] } },
        hoverinfo: "text", hovertext: values.map((own, i) => `row ${row[i]}, ${plain(cluster.name)}: ${short(own[j] ?? 0, 2)}`), textposition: "none",
      })),
      layout: layoutOf({ barmode: "stack", bargap: 0, xaxis: { showticklabels: false, showgrid: false, title: { text: "rows, by cluster and certainty" } }, yaxis: { range: [0, 1], dtick: 0.25, title: { text: "membership" } } }),
    };
  },
};

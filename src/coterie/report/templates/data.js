// The data of the page, unpacked, and the few helpers that all scripts use.
const DATA = JSON.parse(document.getElementById("study-data").textContent);
const ARRAYS = { i1: Int8Array, i2: Int16Array, i4: Int32Array, f4: Float32Array, f8: Float64Array };
const LEAST = { i1: -(2 ** 7), i2: -(2 ** 15), i4: -(2 ** 31) };

const byId = (id) => document.getElementById(id);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// A packed column as numbers, NaN for what is missing.
function unpack(column) {
  const bytes = Uint8Array.from(atob(column.data), (char) => char.charCodeAt(0));
  const raw = new ARRAYS[column.dtype](bytes.buffer);
  if (!column.scale) return raw;
  const least = LEAST[column.dtype];
  return Float64Array.from(raw, (value) => (value === least ? NaN : value / column.scale));
}

// An element with attributes and text; text is never read as HTML.
function make(tag, attributes = {}, text = null) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== null) element.textContent = text;
  return element;
}

// Text that the drawing library shows as it is, although it reads some tags.
function plain(text, most = 48) {
  const short = String(text).length > most ? String(text).slice(0, most - 1) + "…" : String(text);
  return short.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

// A number in few digits.
function short(value, digits = 4) {
  if (value === null || Number.isNaN(value)) return "–";
  return Number.isInteger(value) ? String(value) : String(Number(value.toPrecision(digits)));
}

const MAP = DATA.map && {
  axes: DATA.map.axes,
  x: unpack(DATA.map.x),
  y: unpack(DATA.map.y),
  row: unpack(DATA.map.row),
  label: unpack(DATA.map.label),
  confidence: unpack(DATA.map.confidence),
  ambiguous: unpack(DATA.map.ambiguous),
  density: DATA.map.density && {
    x: unpack(DATA.map.density.x), y: unpack(DATA.map.density.y), inside: unpack(DATA.map.density.inside),
  },
  columns: DATA.map.columns.map((column) => ({
    ...column, values: unpack(column.values), exact: column.values.dtype !== "f4",
  })),
};

const CLUSTERS = new Map(DATA.clusters.map((cluster) => [cluster.label, cluster]));
const markOf = (label) => CLUSTERS.get(label) ?? DATA.noise;
const nameOf = (label) => CLUSTERS.get(label)?.name ?? (DATA.structured ? "in no cluster" : "");

// The cell of a column at a point, as text; empty where it is missing.
function cell(column, point) {
  const value = column.values[point];
  if (Number.isNaN(value)) return "";
  if (column.levels) return column.levels[value];
  return column.exact ? String(value) : String(Number(value.toPrecision(7)));
}

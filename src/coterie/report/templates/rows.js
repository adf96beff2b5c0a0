// A list of rows: a table of the first ones, and all of them as CSV.
const MOST_SHOWN = 200;
let listed = [];

const rowHeads = () => ["row", ...(DATA.structured ? ["cluster", "confidence"] : []), ...MAP.columns.map((column) => column.name)];

function rowCells(point) {
  const own = DATA.structured ? [String(MAP.label[point]), short(MAP.confidence[point], 3)] : [];
  return [String(MAP.row[point]), ...own, ...MAP.columns.map((column) => cell(column, point))];
}

// How many of the rows each cluster has, most first.
function shares(points) {
  const counts = new Map();
  for (const point of points) counts.set(MAP.label[point], (counts.get(MAP.label[point]) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1]).map(([label, count]) => `${count} ${nameOf(label)}`).join(", ");
}

function listRows(points, words) {
  listed = [...points].sort((a, b) => MAP.row[a] - MAP.row[b]);
  const table = byId("rows-table");
  const head = make("tr");
  for (const name of rowHeads()) head.append(make("th", { scope: "col" }, name));
  const body = make("tbody");
  for (const point of listed.slice(0, MOST_SHOWN)) {
    const line = make("tr");
    for (const text of rowCells(point)) line.append(make("td", {}, text));
    body.append(line);
  }
  const top = make("thead");
  top.append(head);
  table.replaceChildren(top, body);
  byId("rows-title").textContent = `${listed.length} ${listed.length === 1 ? "row" : "rows"} ${words}`;
  const more = listed.length > MOST_SHOWN ? ` The first ${MOST_SHOWN} are shown; the CSV has all.` : "";
  byId("rows-note").textContent = (DATA.structured && listed.length ? `${shares(listed)}.` : "") + more;
  byId("rows").hidden = false;
}

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
const asCsv = () => [rowHeads(), ...listed.map(rowCells)].map((line) => line.map(quoted).join(",")).join("\r\n") + "\r\n";

async function copyRows() {
  const text = asCsv();
  try {
    await navigator.clipboard.writeText(text);
  } catch { // where the page may not use the clipboard directly
    const area = make("textarea", { "aria-hidden": "true", class: "unseen" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  byId("rows-note").textContent = `Copied ${listed.length} rows.`;
}

function saveRows() {
  const link = make("a", { download: "rows.csv", href: URL.createObjectURL(new Blob([asCsv()], { type: "text/csv" })) });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

if (MAP) {
  byId("rows-copy").addEventListener("click", copyRows);
  byId("rows-save").addEventListener("click", saveRows);
  byId("rows-close").addEventListener("click", () => {
    byId("rows").hidden = true;
    clearBrush();
    byId("plane").focus();
  });
}

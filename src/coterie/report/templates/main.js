// Draw what comes into view, again when colours change, and all of it for paper.
const PAPER_WIDTH = 680, PAPER_HEIGHT = 430; // of the map
const CONFIG = { displayModeBar: false, responsive: true, showTips: false };
const charts = all("[data-chart]");
const drawnCharts = new Set();

function drawChart(box) {
  const { traces, layout, height } = CHARTS[box.dataset.chart](DATA[box.dataset.chart], box);
  layout.height = height ?? Number(box.dataset.height);
  layout.dragmode = false;
  Plotly.react(box, traces, layout, CONFIG);
  box.style.minHeight = ""; // kept its place until now, so that what is below did not move
  drawnCharts.add(box);
}

function drawAgain() {
  if (mapState.drawn) drawMap();
  drawnCharts.forEach(drawChart);
}
redraws.push(drawAgain);

const views = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    views.unobserve(target);
    if (target.id === "plane") drawMap();
    else drawChart(target);
  }
}, { rootMargin: "500px" });
if (MAP) views.observe(byId("plane"));
charts.forEach((box) => views.observe(box));

// Small drawings are laid out by width.
let oldWidth = innerWidth;
addEventListener("resize", () => {
  if (Math.abs(innerWidth - oldWidth) < 40) return;
  oldWidth = innerWidth;
  drawnCharts.forEach(drawChart);
});

addEventListener("beforeprint", () => {
  hideTip();
  const boxes = [...charts, ...(MAP ? [byId("plane")] : [])];
  boxes.forEach((box) => { box.style.width = `${PAPER_WIDTH}px`; });
  if (MAP) byId("plane").style.height = `${PAPER_HEIGHT}px`;
  root.dataset.theme = "light";
  if (MAP) drawMap();
  charts.forEach(drawChart);
  boxes.forEach((box) => Plotly.relayout(box, { width: PAPER_WIDTH, ...(box.id === "plane" ? { height: PAPER_HEIGHT } : {}) }));
});
addEventListener("afterprint", () => {
  [...charts, ...(MAP ? [byId("plane")] : [])].forEach((box) => { box.style.width = ""; box.style.height = ""; });
  root.dataset.theme = "";
  wear(chosenTheme);
  [...drawnCharts, ...(MAP ? [byId("plane")] : [])].forEach((box) => Plotly.relayout(box, { autosize: true, width: undefined, ...(box.id === "plane" ? { height: undefined } : {}) }));
});

// The contents show where the reader is.
const links = new Map(all(".contents a").map((link) => [link.getAttribute("href").slice(1), link]));
const places = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue;
    links.forEach((link) => link.removeAttribute("aria-current"));
    links.get(target.id)?.setAttribute("aria-current", "true");
  }
}, { rootMargin: "-20% 0px -70% 0px" });
all("main > section").forEach((section) => places.observe(section));

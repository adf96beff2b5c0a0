// Light and dark: as the system, or as chosen; drawings follow.
const root = document.documentElement;
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
const CHOICES = ["auto", "light", "dark"];
const redraws = [];
let chosenTheme = "auto";

try { chosenTheme = localStorage.getItem("coterie-theme") ?? "auto"; } catch { /* a page without storage */ }
if (!CHOICES.includes(chosenTheme)) chosenTheme = "auto";

// The value of a colour of the style sheet.
const color = (name) => getComputedStyle(root).getPropertyValue(`--${name}`).trim();

function wear(theme) {
  const worn = theme === "auto" ? (prefersDark.matches ? "dark" : "light") : theme;
  if (root.dataset.theme === worn) return;
  root.dataset.theme = worn;
  for (const redraw of redraws) redraw();
}

function nameTheme() {
  byId("theme-name").textContent = chosenTheme;
  const words = { auto: "as the system", light: "light", dark: "dark" };
  byId("theme").setAttribute("aria-label", `Colours: ${words[chosenTheme]}; press to change`);
}

byId("theme").addEventListener("click", () => {
  chosenTheme = CHOICES[(CHOICES.indexOf(chosenTheme) + 1) % CHOICES.length];
  try { localStorage.setItem("coterie-theme", chosenTheme); } catch { /* it lasts as long as the page */ }
  nameTheme();
  wear(chosenTheme);
});
prefersDark.addEventListener("change", () => wear(chosenTheme));
nameTheme();

// What all drawings share.
function layoutOf(extra = {}) {
  const axis = { gridcolor: color("line"), zerolinecolor: color("line"), linecolor: color("line"), tickcolor: color("line"), automargin: true };
  const { xaxis = {}, yaxis = {}, ...rest } = extra;
  return {
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { family: getComputedStyle(document.body).fontFamily, size: 12, color: color("soft") },
    margin: { l: 48, r: 16, t: 16, b: 44 }, showlegend: false, hovermode: "closest",
    hoverlabel: { bgcolor: color("raised"), bordercolor: color("line"), font: { color: color("ink") } },
    xaxis: { ...axis, ...xaxis }, yaxis: { ...axis, ...yaxis }, ...rest,
  };
}

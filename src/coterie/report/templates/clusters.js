// One cluster chosen: by a button, a tab, the keyboard or a click on the map.
const tabs = all('[role="tab"]');

function showCard(label) {
  for (const tab of tabs) {
    const own = Number(tab.dataset.cluster) === label;
    tab.setAttribute("aria-selected", String(own));
    tab.tabIndex = own ? 0 : -1;
  }
  for (const card of all(".card")) card.hidden = Number(card.dataset.cluster) !== label;
}

// The cluster in the foreground; null for all of them.
function chooseCluster(label) {
  mapState.cluster = label;
  for (const chip of all("#chips .chip")) chip.setAttribute("aria-pressed", String(Number(chip.dataset.cluster) === label));
  if (CLUSTERS.has(label)) showCard(label);
  const link = byId("to-profile");
  if (link) {
    link.hidden = !CLUSTERS.has(label);
    link.firstElementChild.textContent = `What distinguishes ${nameOf(label)} ↓`;
  }
  if (mapState.drawn) drawMap();
}

for (const chip of all("#chips .chip")) {
  chip.addEventListener("click", () => {
    const label = Number(chip.dataset.cluster);
    chooseCluster(mapState.cluster === label ? null : label);
  });
}

tabs.forEach((tab, i) => {
  tab.addEventListener("click", () => chooseCluster(Number(tab.dataset.cluster)));
  tab.addEventListener("keydown", (event) => {
    const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = tabs[(to + tabs.length) % tabs.length];
    next.focus();
    chooseCluster(Number(next.dataset.cluster));
  });
});
if (tabs.length) showCard(Number(tabs[0].dataset.cluster));

for (const button of all("[data-list]")) {
  button.addEventListener("click", () => {
    const label = Number(button.dataset.list);
    const points = [];
    MAP?.label.forEach((own, point) => { if (own === label) points.push(point); });
    if (!MAP) return;
    listRows(points, `of ${nameOf(label)} on the map`);
    byId("rows-title").focus();
    byId("rows").scrollIntoView({ block: "nearest" });
  });
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") { hideTip(); if (mapState.cluster !== null) chooseCluster(null); }
});

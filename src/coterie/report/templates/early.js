// Before anything is drawn: the colours that were chosen last, and the sign that scripts run.
(() => {
  const root = document.documentElement;
  let theme = null;
  try { theme = localStorage.getItem("coterie-theme"); } catch { /* a page without storage */ }
  if (theme !== "light" && theme !== "dark") theme = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  root.dataset.theme = theme;
  root.classList.add("js");
})();

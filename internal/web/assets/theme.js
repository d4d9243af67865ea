// Sets the theme before the first paint.
(() => {
  let theme = null;
  try { theme = localStorage.getItem("ken-theme"); } catch { /* storage is disabled */ }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();

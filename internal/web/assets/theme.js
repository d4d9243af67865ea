// Sets the theme before anything is drawn.
(() => {
  let theme = null;
  try { theme = localStorage.getItem("ken-theme"); } catch { /* it may not be allowed */ }
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
})();

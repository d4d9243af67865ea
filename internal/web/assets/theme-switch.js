// The button that switches between auto, light and dark.
const ROUND = ["auto", "light", "dark"];

export function theme() {
  const root = document.documentElement;
  const show = () => { document.querySelector("#theme .word").textContent = root.dataset.theme || "auto"; };
  document.getElementById("theme").addEventListener("click", () => {
    const next = ROUND[(ROUND.indexOf(root.dataset.theme || "auto") + 1) % ROUND.length];
    if (next === "auto") delete root.dataset.theme; else root.dataset.theme = next;
    try { localStorage.setItem("ken-theme", next); } catch { /* storage is disabled */ }
    show();
  });
  show();
}

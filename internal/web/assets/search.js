// Filters the rows of the tree while the user types. Ancestors of a match stay visible.
let texts = new WeakMap();

function textOf(row) {
  let t = texts.get(row);
  if (t === undefined) { t = row.textContent.toLowerCase(); texts.set(row, t); }
  return t;
}

export function search() {
  document.addEventListener("input", (e) => { if (e.target.id === "search") { keepInAddress(); apply(); } });
  document.addEventListener("click", (e) => {
    const chip = e.target.closest(".chip");
    if (!chip) return;
    const on = chip.getAttribute("aria-pressed") !== "true";
    for (const c of document.querySelectorAll(".chip")) c.setAttribute("aria-pressed", String(c === chip && on));
    apply();
  });
  document.addEventListener("ken:drawn", () => { texts = new WeakMap(); apply(); });
  const box = document.getElementById("search");
  const asked = new URLSearchParams(location.hash.slice(1)).get("q");
  if (box && asked) box.value = asked;
  apply();
}

function keepInAddress() {
  const q = document.getElementById("search").value;
  history.replaceState(null, "", q ? "#q=" + encodeURIComponent(q) : location.pathname + location.search);
}

function apply() {
  const list = document.getElementById("nodes");
  const box = document.getElementById("search");
  if (!list || !box) return;
  const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
  const chip = document.querySelector('.chip[aria-pressed="true"]');
  const only = chip && chip.dataset.pick;
  const rows = list.children;
  let found = 0;
  let wanted = 0; // rows above with a smaller depth are ancestors of a match
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i];
    const depth = Number(row.dataset.d);
    const hit = (!only || row.dataset.s === only || (row.dataset.also || "").includes(only)) && words.every((w) => textOf(row).includes(w));
    const leads = depth < wanted;
    if (hit) found++;
    if (hit || leads) wanted = depth;
    row.hidden = !hit && !leads;
    row.classList.toggle("lead", !hit && leads);
  }
  const all = words.length === 0 && !only;
  document.getElementById("found").textContent = all ? "" : found + " of " + rows.length;
  const nothing = document.getElementById("nothing");
  if (nothing) nothing.hidden = found > 0 || rows.length === 0;
}

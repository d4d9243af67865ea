// After an act on the home page, waits until its item is gone, then moves the focus to the
// next item and says what happened.
const sources = new WeakMap(); // the address of the change of each item
let settled = null; // the item that was acted on, and the items after it

export function home() {
  reload();
  document.addEventListener("submit", (e) => {
    const item = e.target.closest("[data-item]");
    if (!item || !e.target.matches("[data-act]")) return;
    const after = [];
    for (let i = item.nextElementSibling; i; i = i.nextElementSibling) if (i.id) after.push(i.id);
    for (let i = item.previousElementSibling; i; i = i.previousElementSibling) if (i.id) after.push(i.id);
    settled = { id: item.id, after, said: e.target.dataset.act };
  }, true);
  document.addEventListener("ken:drawn", () => { reload(); moveOn(); });
}

// reload loads the change of an item again if the item's content changed, unless the user
// has typed there.
function reload() {
  for (const details of document.querySelectorAll("[data-item] > details[data-src]")) {
    const before = sources.get(details);
    sources.set(details, details.dataset.src);
    const slot = details.querySelector(".patch-slot");
    if (!before || before === details.dataset.src || !slot.dataset.filled) continue;
    if ([...slot.querySelectorAll("textarea")].some((t) => t.value !== t.defaultValue)) continue;
    delete slot.dataset.filled;
    if (details.open) details.dispatchEvent(new Event("toggle"));
  }
}

function moveOn() {
  if (!settled || document.getElementById(settled.id)) return;
  const { after, said } = settled;
  settled = null;
  const done = document.getElementById("done");
  if (done) done.textContent = said + ".";
  const focused = document.activeElement;
  if (focused && focused !== document.body) return; // the user went on
  const next = after.map((id) => document.getElementById(id)).find(Boolean);
  const at = next?.querySelector("summary, a, button") || document.getElementById("needs");
  at?.focus();
}

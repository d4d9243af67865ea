// Loads parts of a page: a patch when the user opens it, and what the server could not
// prepare in time.
export function patches() {
  document.addEventListener("toggle", (e) => {
    const details = e.target;
    if (details.open && details.dataset.src) fill(details.querySelector(".patch-slot"), details.dataset.src);
  }, true);
  document.addEventListener("ken:drawn", load);
  load();
}

function load() {
  for (const part of document.querySelectorAll("[data-load]")) fill(part.querySelector(".patch-slot"), part.dataset.load);
}

async function fill(slot, source) {
  if (slot.dataset.filled === source) return;
  const first = !slot.dataset.filled;
  slot.dataset.filled = source;
  if (first && !slot.querySelector(".reading")) slot.textContent = "Loading…";
  try {
    const answer = await fetch(source, { headers: { "X-Ken-Part": "patch", Accept: "text/html" } });
    const part = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!answer.ok) throw new Error(part.querySelector("h1")?.textContent || answer.statusText);
    if (slot.dataset.filled !== source) return;
    slot.replaceChildren(...part.body.childNodes);
    document.dispatchEvent(new CustomEvent("ken:loaded"));
  } catch (err) {
    if (slot.dataset.filled !== source) return;
    slot.textContent = "Could not load this part: " + err.message;
    delete slot.dataset.filled;
  }
}

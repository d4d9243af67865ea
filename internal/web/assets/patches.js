// Loads a patch when the user opens it.
export function patches() {
  document.addEventListener("toggle", async (e) => {
    const details = e.target;
    if (!details.open || !details.dataset.src) return;
    const slot = details.querySelector(".patch-slot");
    if (slot.dataset.filled) return;
    slot.dataset.filled = "yes";
    slot.textContent = "Loading…";
    try {
      const answer = await fetch(details.dataset.src, { headers: { "X-Ken-Part": "patch", Accept: "text/html" } });
      const part = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (!answer.ok) throw new Error(part.querySelector("h1")?.textContent || answer.statusText);
      slot.replaceChildren(...part.body.childNodes);
      document.dispatchEvent(new CustomEvent("ken:loaded"));
    } catch (err) {
      slot.textContent = "Could not load the patch: " + err.message;
      delete slot.dataset.filled;
    }
  }, true);
}

// The palette: a search over files, symbols, specs, documents and pages, from every page.

const PAUSE = 120; // milliseconds without a key before the server is asked
const AGAIN = 300; // until the next question while ken is reading the repository

export function palette() {
  const button = document.getElementById("find");
  if (!button) return; // there is nothing to search before the user signed in
  const dialog = document.getElementById("palette");
  const input = document.getElementById("palette-query");
  const list = document.getElementById("palette-rows");
  const note = document.getElementById("palette-note");
  let timer = 0;
  let asked = null; // AbortController of the running question
  let at = -1; // the selected row

  const rows = () => [...list.children];

  function select(i) {
    const all = rows();
    at = all.length === 0 ? -1 : (i + all.length) % all.length;
    all.forEach((row, k) => row.setAttribute("aria-selected", String(k === at)));
    if (at < 0) { input.removeAttribute("aria-activedescendant"); return; }
    input.setAttribute("aria-activedescendant", all[at].id);
    all[at].scrollIntoView({ block: "nearest" });
  }

  function show(answer) {
    const before = at > 0 ? rows()[at]?.href : null; // a row that the user moved to stays selected
    list.replaceChildren(...answer.rows.map(draw));
    input.setAttribute("aria-expanded", String(answer.rows.length > 0));
    select(Math.max(0, rows().findIndex((row) => row.href === before)));
    note.textContent = remark(answer);
    dialog.dataset.query = answer.query;
    dialog.dataset.reading = answer.reading;
  }

  async function ask() {
    clearTimeout(timer);
    if (asked) asked.abort(); // the last question wins
    const mine = asked = new AbortController();
    const query = new URLSearchParams({ q: input.value });
    const worktree = new URLSearchParams(location.search).get("w");
    if (worktree) query.set("w", worktree);
    try {
      const answer = await fetch("/api/find?" + query, { signal: mine.signal, headers: { Accept: "application/json" } });
      const said = await answer.json();
      if (mine !== asked) return;
      if (!answer.ok) throw new Error(said.error);
      show(said);
      if (said.reading && dialog.open) timer = setTimeout(ask, AGAIN);
    } catch (err) {
      if (mine !== asked || err.name === "AbortError") return;
      list.replaceChildren();
      select(-1);
      note.textContent = "The search failed: " + err.message;
    }
  }

  function open() {
    if (dialog.open || document.querySelector("dialog[open]")) return;
    dialog.showModal();
    input.select();
    ask();
  }

  button.addEventListener("click", open);
  document.addEventListener("keydown", (e) => {
    const combination = (e.ctrlKey || e.metaKey) && !e.altKey && !e.shiftKey && e.key.toLowerCase() === "k";
    const typing = e.target.closest("input, textarea, select")?.checkVisibility();
    const slash = e.key === "/" && !e.ctrlKey && !e.metaKey && !e.altKey && !typing && !dialog.open;
    if (!combination && !slash) return;
    e.preventDefault();
    if (dialog.open) dialog.close(); else open();
  });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, PAUSE);
  });
  input.addEventListener("keydown", (e) => {
    if (e.isComposing) return;
    const move = { ArrowDown: at + 1, ArrowUp: at - 1, PageDown: Math.min(at + 8, rows().length - 1), PageUp: Math.max(at - 8, 0) }[e.key];
    if (move !== undefined) { e.preventDefault(); select(move); return; }
    if (e.key !== "Enter" || at < 0) return;
    e.preventDefault();
    const href = rows()[at].href;
    if (e.ctrlKey || e.metaKey) window.open(href, "_blank", "noopener"); else go(href);
  });
  list.addEventListener("click", (e) => {
    const row = e.target.closest("a");
    if (!row || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
    e.preventDefault();
    go(row.href);
  });
  dialog.addEventListener("click", (e) => { if (e.target === dialog) dialog.close(); }); // outside of its content
  dialog.addEventListener("close", () => {
    clearTimeout(timer);
    if (asked) asked.abort();
    asked = null;
  });

  // go closes the palette first: the address may be a line of this page.
  function go(href) {
    dialog.close();
    location.assign(href);
  }
}

// draw makes the element of a row. All of it is text.
function draw(row, i) {
  const link = document.createElement("a");
  link.id = "palette-row-" + i;
  link.href = row.href;
  link.setAttribute("role", "option");
  link.tabIndex = -1;
  const detail = part("span", "detail", "");
  detail.append(part("bdi", "", row.detail || ""));
  detail.firstChild.dir = "ltr";
  link.append(part("span", "tag", row.kind), part("bdi", "name", row.name), detail, part("bdi", "text", row.text || ""));
  return link;
}

function part(element, name, text) {
  const e = document.createElement(element);
  e.className = name;
  e.textContent = text;
  return e;
}

function remark(answer) {
  const parts = [];
  if (answer.reading) parts.push("ken is reading the repository. So far it finds paths, specs and pages.");
  if (answer.query && answer.rows.length === 0 && !answer.reading) parts.push("Nothing found.");
  if (answer.unmatched && answer.unmatched.length > 0 && answer.rows.length > 0) parts.push("No file has: " + answer.unmatched.join(", ") + ".");
  parts.push(...(answer.removed || []), ...(answer.unknown || []).map((u) => u.why + (u.command ? ": " + u.command : "")));
  if (parts.length === 0 && answer.query) parts.push(answer.rows.length === 1 ? "1 result" : answer.rows.length + " results");
  return parts.join(" ");
}

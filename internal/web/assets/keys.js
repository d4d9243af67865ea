// Keyboard: j, k and the arrows move through the lists.

function rows() {
  return [...document.querySelectorAll("main .nodes li:not([hidden]):not(.lead) > a, main #inside a, main .trees a, main .rows a, main .lines a, main .mentions a, main .radar a, main summary")];
}

// hits are the matching rows of the tree, without their ancestors.
function hits() { return [...document.querySelectorAll("#nodes > li:not([hidden]):not(.lead) > a")]; }

function focus(link) {
  link.focus();
  link.scrollIntoView({ block: "nearest" });
}

function step(by) {
  const list = rows();
  if (list.length === 0) return;
  let at = list.indexOf(document.activeElement);
  at = at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1);
  focus(list[at]);
}

function up() { return document.getElementById("up") || [...document.querySelectorAll(".path a")].at(-2) || null; }

// leave opens a page, which then focuses the row of the page that was left.
const LEFT = "ken-left";
function leave(link) {
  if (!link) return;
  try { sessionStorage.setItem(LEFT, location.pathname + location.search); } catch { /* storage is disabled */ }
  location.assign(link.href);
}

function comeBack() {
  let left = null;
  try { left = sessionStorage.getItem(LEFT); } catch { /* storage is disabled */ }
  if (!left || left === location.pathname + location.search) return; // a refresh while leaving
  const at = ["#nodes a", "#inside a", "main .rows a"].flatMap((q) => [...document.querySelectorAll(q)]).find((a) => a.pathname + a.search === left);
  if (!at && document.getElementById("late")) return; // the row may appear when the page is complete
  sessionStorage.removeItem(LEFT);
  if (at) focus(at);
}

// does reports which keys work on this page.
const does = {
  search: () => document.getElementById("search"),
  rows: () => rows().length > 0,
  up,
};

// pages are the keys that open a page of the navigation.
const pages = { h: "/", r: "/review", m: "/map", d: "/documents", p: "/specs", s: "/state", w: "/worktrees" };

function go(path) {
  leave([...document.querySelectorAll("header.top nav a")].find((a) => a.pathname === path));
}

function showHelp(help) {
  for (const e of help.querySelectorAll("[data-if]")) e.hidden = !does[e.dataset.if]();
  help.showModal();
}

export function keys() {
  const help = document.getElementById("keys");
  document.getElementById("help").addEventListener("click", () => showHelp(help));
  comeBack();
  document.addEventListener("ken:drawn", comeBack);
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]")) return;
    const box = document.getElementById("search");
    const typing = e.target.closest("input, textarea, select");
    if (typing && typing.checkVisibility()) { // the field of a closed dialog may still have the focus
      if (typing === box && (e.key === "ArrowDown" || e.key === "Enter")) {
        e.preventDefault();
        const first = hits()[0];
        if (first && e.key === "ArrowDown") focus(first);
        else if (first && box.value.trim()) location.assign(first.href);
      }
      if (typing === box && e.key === "Escape") {
        if (box.value) { box.value = ""; box.dispatchEvent(new Event("input", { bubbles: true })); } else box.blur();
      }
      return;
    }
    const act = {
      f: () => box && (box.focus(), box.select()),
      j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
      u: () => leave(up()),
      t: () => document.getElementById("theme").click(), "?": () => showHelp(help),
    }[e.key] || (pages[e.key] && (() => go(pages[e.key])));
    if (!act) return;
    e.preventDefault();
    act();
  });
}

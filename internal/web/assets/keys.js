// Everything by keyboard: the lists are walked with j and k or the arrows.

function rows() {
  return [...document.querySelectorAll("main .nodes li:not([hidden]) > a, main #inside a, main .trees a, main .rows a, main .radar a, main summary")];
}

function step(by) {
  const list = rows();
  if (list.length === 0) return;
  let at = list.indexOf(document.activeElement);
  at = at < 0 ? (by > 0 ? 0 : list.length - 1) : Math.min(Math.max(at + by, 0), list.length - 1);
  list[at].focus();
  list[at].scrollIntoView({ block: "nearest" });
}

function go(path) {
  const link = document.querySelector('header.top nav a[href^="' + path + '"]');
  if (link) location.assign(link.href);
}

export function keys() {
  const help = document.getElementById("keys");
  document.getElementById("help").addEventListener("click", () => help.showModal());
  document.addEventListener("keydown", (e) => {
    if (e.ctrlKey || e.metaKey || e.altKey || help.open) return;
    const box = document.getElementById("search");
    const typing = e.target.closest("input, textarea, select");
    if (typing) {
      if (typing === box && (e.key === "ArrowDown" || e.key === "Enter")) { e.preventDefault(); step(1); }
      if (typing === box && e.key === "Escape") {
        if (box.value) { box.value = ""; box.dispatchEvent(new Event("input", { bubbles: true })); } else box.blur();
      }
      return;
    }
    const does = {
      "/": () => box && (box.focus(), box.select()),
      j: () => step(1), ArrowDown: () => step(1), k: () => step(-1), ArrowUp: () => step(-1),
      u: () => { const up = document.getElementById("up") || [...document.querySelectorAll(".path a")].at(-2); if (up) location.assign(up.href); },
      b: () => location.assign(document.querySelector(".brand").href), m: () => go("/map"), s: () => go("/state"), w: () => go("/worktrees"),
      t: () => document.getElementById("theme").click(), "?": () => help.showModal(),
    }[e.key];
    if (!does) return;
    e.preventDefault();
    does();
  });
}

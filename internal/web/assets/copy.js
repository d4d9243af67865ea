// Adds a button to every command that copies it.

const COMMANDS = "code.cmd, p.hint code";

export function copyButtons() {
  add();
  document.addEventListener("ken:drawn", add); // a redrawn page has new commands
  document.addEventListener("ken:loaded", add); // so has a part that was loaded on demand
  document.addEventListener("click", async (e) => {
    const button = e.target.closest("button.copy");
    if (!button) return;
    const copied = await copy(button.previousElementSibling.textContent);
    button.textContent = copied ? "Copied" : "Not copied";
    announce(copied ? "Copied" : "The browser did not allow copying. Select the command and copy it.");
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
}

// add gives every command a button, and removes the buttons of commands that are gone.
function add() {
  for (const button of document.querySelectorAll("button.copy")) {
    if (!button.previousElementSibling?.matches(COMMANDS)) button.remove();
  }
  for (const code of document.querySelectorAll(COMMANDS)) {
    let button = code.nextElementSibling;
    if (!button?.matches("button.copy")) {
      button = document.createElement("button");
      button.type = "button";
      button.className = "copy";
      button.dataset.keep = "added";
      button.textContent = "Copy";
      code.after(button);
    }
    button.setAttribute("aria-label", "Copy: " + code.textContent);
  }
}

// copy reports whether the text is in the clipboard. navigator.clipboard works only on
// this machine and with TLS; elsewhere the browser copies a selected text.
async function copy(text) {
  if (navigator.clipboard) {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* try the other way */ }
  }
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "sr";
  area.setAttribute("aria-hidden", "true");
  document.documentElement.append(area);
  area.select();
  let copied = false;
  try { copied = document.execCommand("copy"); } catch { /* not allowed */ }
  area.remove();
  focused?.focus({ preventScroll: true });
  return copied;
}

// announce tells a screen reader.
function announce(text) {
  let live = document.getElementById("copied");
  if (!live) {
    live = document.createElement("div");
    live.id = "copied";
    live.className = "sr";
    live.setAttribute("role", "status");
    document.documentElement.append(live);
  }
  live.textContent = "";
  requestAnimationFrame(() => { live.textContent = text; });
}

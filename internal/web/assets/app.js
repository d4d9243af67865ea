// Entry point of every page: live updates, keys and forms.
import { follow } from "./live.js";
import { morph } from "./morph.js";
import { search } from "./search.js";
import { keys } from "./keys.js";
import { forms, login } from "./forms.js";
import { theme } from "./theme-switch.js";
import { patches } from "./patches.js";
import { home } from "./home.js";
import { filter } from "./filter.js";
import { palette } from "./palette.js";
import { copyButtons } from "./copy.js";

let etag = null;
let fetching = null; // the running refresh
let again = false; // something changed meanwhile

// refresh fetches the page and changes only the elements that differ.
async function refresh() {
  if (fetching) { again = true; return fetching; }
  fetching = (async () => {
    do {
      again = false;
      const headers = etag ? { "If-None-Match": etag } : {};
      const answer = await fetch(location.href, { headers: { ...headers, Accept: "text/html" }, cache: "no-store", credentials: "same-origin" });
      if (answer.status === 304) continue;
      if (answer.redirected) { location.assign(answer.url); return; } // signed out
      const text = await answer.text();
      const next = new DOMParser().parseFromString(text, "text/html");
      if (next.body.dataset.release !== document.body.dataset.release) { location.reload(); return; }
      etag = answer.headers.get("ETag");
      morph(document.body, next.body);
      document.title = next.title;
      document.dispatchEvent(new CustomEvent("ken:drawn"));
    } while (again);
  })().finally(() => { fetching = null; });
  return fetching;
}

// askAgain refreshes the page until a part is ready that the server is still working on.
let asking = false;
function askAgain() {
  if (asking || !document.querySelector("[data-again]")) return;
  asking = true;
  setTimeout(() => refresh().catch(() => {}).finally(() => { asking = false; askAgain(); }), 500);
}

theme();
search();
palette();
keys();
patches();
copyButtons();
forms(refresh);
home();
filter(refresh);
const enter = () => login().then((entered) => { if (entered) refresh(); });
enter();
addEventListener("hashchange", enter); // the printed address, pasted into an open page
if (document.body.dataset.page !== "login") follow(document.body.dataset, refresh);
askAgain();
document.addEventListener("ken:drawn", askAgain);

document.addEventListener("change", (e) => {
  if (e.target.id !== "worktree") return;
  const url = new URL(location.href);
  if (e.target.value) url.searchParams.set("w", e.target.value); else url.searchParams.delete("w");
  location.assign(url);
});

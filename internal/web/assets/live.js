// Listens for changes: through one stream for all pages of the browser, else through a
// stream of this page, else by polling.

const POLL = 1000;

function say(word) {
  const live = document.getElementById("live");
  if (!live || live.dataset.state === word) return;
  live.dataset.state = word;
  live.querySelector(".word").textContent = word;
}

// follow calls refresh whenever the board of this page's worktree has another tag.
export function follow(page, refresh) {
  let failed = 0;
  let away = false; // the stream was interrupted
  const look = () => refresh().then(() => { failed = 0; }, () => { failed++; say("offline"); });
  const hear = (news) => {
    if (news.state) {
      say(news.state);
      if (news.state === "polling" || news.state === "live" && away) look(); // events may be lost
      away = news.state !== "live";
      return;
    }
    say("live");
    if (news.worktree === page.worktree && news.tag !== page.tag) look();
  };
  const poll = () => {
    say("polling");
    setInterval(async () => { await look(); if (!failed) say("polling"); }, POLL);
  };
  const own = () => {
    if (!("EventSource" in window)) { poll(); return; }
    listen(page.worktree, hear);
  };
  // Refresh a page at once when the user returns to it.
  document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
  if (!("SharedWorker" in window)) { own(); return; }
  try {
    const worker = new SharedWorker("/assets/worker.js?v=" + page.release, { name: "ken-" + page.release });
    worker.onerror = own;
    worker.port.onmessage = (e) => hear(e.data);
    worker.port.start();
    worker.port.postMessage({ worktree: page.worktree });
    addEventListener("pagehide", () => worker.port.postMessage("gone"));
    addEventListener("pageshow", (e) => { if (e.persisted) { worker.port.postMessage({ worktree: page.worktree }); look(); } });
  } catch { own(); }
}

// listen opens a stream of this page's own.
function listen(worktree, hear) {
  const stream = new EventSource("/events?" + new URLSearchParams({ w: worktree }));
  stream.addEventListener("board", (e) => hear(JSON.parse(e.data)));
  stream.onopen = () => hear({ state: "live" });
  stream.onerror = () => {
    if (stream.readyState !== EventSource.CLOSED) { hear({ state: "offline" }); return; }
    hear({ state: "polling" }); // the server refused it, so EventSource does not retry
    setTimeout(() => listen(worktree, hear), POLL);
  };
}

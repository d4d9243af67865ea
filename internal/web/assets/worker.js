// One stream for all pages of the browser, about the worktrees that they show. A page
// that comes later is told at once what the others know.
const ports = new Map(); // to the worktree that each is about
const known = new Map(); // by worktree
let state = "connecting";
let stream = null;
let about = ""; // what the stream was asked for

function all(message) { for (const p of ports.keys()) p.postMessage(message); }

// open asks for a stream about what the pages show now, unless there is one.
function open() {
  const names = [...new Set(ports.values())].sort();
  const asked = "/events?" + new URLSearchParams(names.map((name) => ["w", name]));
  if (stream && asked === about) return;
  if (stream) stream.close();
  about = asked;
  const mine = stream = new EventSource(asked);
  mine.addEventListener("board", (e) => {
    const news = JSON.parse(e.data);
    known.set(news.worktree, news);
    all(news);
  });
  mine.onopen = () => { state = "live"; all({ state }); };
  mine.onerror = () => {
    const refused = mine.readyState === EventSource.CLOSED; // it does not try again by itself
    state = refused ? "polling" : "offline";
    all({ state });
    if (!refused || stream !== mine) return;
    stream = null;
    setTimeout(() => { if (ports.size > 0) open(); }, 1000);
  };
}

function enter(port, worktree) {
  ports.set(port, worktree);
  open();
  port.postMessage({ state });
  if (known.has(worktree)) port.postMessage(known.get(worktree));
}

onconnect = (e) => {
  const port = e.ports[0];
  port.onmessage = (m) => {
    if (m.data !== "gone") { enter(port, m.data.worktree); return; }
    ports.delete(port);
    if (ports.size === 0 && stream) { stream.close(); stream = null; known.clear(); }
  };
  port.start();
};

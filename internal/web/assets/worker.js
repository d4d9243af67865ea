// One stream for all pages of the browser. A new page gets the known tags at once.
const ports = new Map(); // port of each page, to its worktree
const known = new Map(); // last event, by worktree
let state = "connecting";
let stream = null;
let about = ""; // address of the stream

function all(message) { for (const p of ports.keys()) p.postMessage(message); }

// open opens a stream for the worktrees of all pages, unless it is open already.
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
    const refused = mine.readyState === EventSource.CLOSED; // EventSource does not retry
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

// One stream for all pages of the browser. A page that comes later is told at once
// what the others know.
const ports = new Set();
const known = new Map(); // by worktree
let state = "connecting";
let stream = null;

function all(message) { for (const p of ports) p.postMessage(message); }

function open() {
  if (stream) return;
  stream = new EventSource("/events");
  stream.addEventListener("board", (e) => {
    const news = JSON.parse(e.data);
    known.set(news.worktree, news);
    all(news);
  });
  stream.onopen = () => { state = "live"; all({ state }); };
  stream.onerror = () => {
    state = "offline";
    all({ state });
    if (stream.readyState === EventSource.CLOSED) { // it does not try again by itself
      stream = null;
      setTimeout(() => { if (ports.size > 0) open(); }, 1000);
    }
  };
}

function enter(port) {
  ports.add(port);
  open();
  port.postMessage({ state });
  for (const news of known.values()) port.postMessage(news);
}

onconnect = (e) => {
  const port = e.ports[0];
  port.onmessage = (m) => {
    if (m.data === "back") { enter(port); return; }
    ports.delete(port);
    if (ports.size === 0 && stream) { stream.close(); stream = null; known.clear(); }
  };
  port.start();
  enter(port);
};

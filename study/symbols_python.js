// Prints symbols of Python files that other files use, as pyright's language server finds them.
// usage: node symbols_python.js ROOT COUNT <LIST, the tracked files by line
const { spawn } = require("child_process"), fs = require("fs"), path = require("path"), crypto = require("crypto");
const { pathToFileURL, fileURLToPath } = require("url");

const root = fs.realpathSync(process.argv[2]), count = Number(process.argv[3]);
const files = fs.readFileSync(0, "utf8").split("\n").filter((f) => f.endsWith(".py") && fs.existsSync(path.join(root, f)));
const known = new Set(files);
const uri = (f) => pathToFileURL(path.join(root, f)).href;

const main = path.join(path.dirname(require.resolve("pyright/package.json")), "langserver.index.js");
const server = spawn(process.execPath, [main, "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
let buffer = Buffer.alloc(0), next = 1;
const waiting = new Map();
const send = (message) => {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message });
  server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`);
};
const ask = (method, params) => new Promise((resolve) => {
  waiting.set(next, resolve);
  send({ id: next++, method, params });
});
server.stdout.on("data", (data) => {
  buffer = Buffer.concat([buffer, data]);
  for (;;) {
    const end = buffer.indexOf("\r\n\r\n");
    if (end < 0) return;
    const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, end))[1]);
    if (buffer.length < end + 4 + length) return;
    const message = JSON.parse(buffer.subarray(end + 4, end + 4 + length));
    buffer = buffer.subarray(end + 4 + length);
    if (message.method && message.id !== undefined) {
      const items = message.params && message.params.items;
      send({ id: message.id, result: items ? items.map(() => ({})) : null });
    } else if (waiting.has(message.id)) {
      waiting.get(message.id)(message.result);
      waiting.delete(message.id);
    }
  }
});

const functionKind = 12, methodKind = 6, classKind = 5;
async function run() {
  await ask("initialize", {
    processId: process.pid, rootUri: pathToFileURL(root).href, workspaceFolders: [{ uri: pathToFileURL(root).href, name: "root" }],
    capabilities: { textDocument: { documentSymbol: { hierarchicalDocumentSymbolSupport: true } }, workspace: { configuration: true } },
  });
  send({ method: "initialized", params: {} });
  const candidates = [];
  for (const f of files) {
    send({ method: "textDocument/didOpen", params: { textDocument: { uri: uri(f), languageId: "python", version: 1, text: fs.readFileSync(path.join(root, f), "utf8") } } });
    const symbols = (await ask("textDocument/documentSymbol", { textDocument: { uri: uri(f) } })) || [];
    for (const s of symbols) {
      if (s.kind !== functionKind && s.kind !== classKind) continue;
      candidates.push({ path: f, name: s.name, member: false, at: s.selectionRange.start });
      for (const m of s.kind === classKind ? s.children || [] : []) {
        if (m.kind === methodKind && !m.name.startsWith("__")) candidates.push({ path: f, name: s.name + "." + m.name, member: true, at: m.selectionRange.start });
      }
    }
  }
  const hash = (c) => crypto.createHash("md5").update(c.path + "#" + c.name).digest("hex");
  candidates.sort((a, b) => (hash(a) < hash(b) ? -1 : 1));
  const found = [], left = { false: count, true: count }, tries = { false: 20 * count, true: 20 * count };
  for (const c of candidates) {
    if (left[c.member] === 0 || tries[c.member]-- <= 0) continue;
    const places = (await ask("textDocument/references", { textDocument: { uri: uri(c.path) }, position: c.at, context: { includeDeclaration: false } })) || [];
    const users = new Set(places.map((p) => path.relative(root, fileURLToPath(p.uri)).split(path.sep).join("/")));
    users.delete(c.path);
    const inside = [...users].filter((f) => known.has(f));
    if (!inside.length) continue;
    left[c.member]--;
    found.push({ Path: c.path, Name: c.name, Member: c.member, Users: inside });
  }
  process.stdout.write(JSON.stringify(found), () => process.exit(0));
}
run();

// Prints symbols of TypeScript and JavaScript files that other files use, as TypeScript's language service finds them.
// usage: node symbols_typescript.js ROOT COUNT <LIST, the tracked files by line
const ts = require("typescript"), fs = require("fs"), path = require("path"), crypto = require("crypto");

const root = fs.realpathSync(process.argv[2]), count = Number(process.argv[3]);
const tracked = fs.readFileSync(0, "utf8").split("\n").filter((f) => f && fs.existsSync(path.join(root, f)));
const sources = tracked.filter((f) => /\.[cm]?[jt]sx?$/.test(f));
require("./typescript_links")(root, tracked);
const relative = (file) => path.relative(root, file).split(path.sep).join("/");

const config = path.join(root, "tsconfig.json");
const own = fs.existsSync(config)
  ? ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config || {}, ts.sys, root, undefined, config).options
  : {};
const options = {
  allowJs: true, noEmit: true, skipLibCheck: true, jsx: ts.JsxEmit.Preserve, target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, allowImportingTsExtensions: true,
  baseUrl: own.baseUrl, paths: own.paths, customConditions: own.customConditions, types: [],
};
const names = sources.map((f) => path.join(root, f));
const service = ts.createLanguageService({
  getCompilationSettings: () => options, getScriptFileNames: () => names, getScriptVersion: () => "1",
  getScriptSnapshot: (f) => (fs.existsSync(f) ? ts.ScriptSnapshot.fromString(fs.readFileSync(f, "utf8")) : undefined),
  getCurrentDirectory: () => root, getDefaultLibFileName: (o) => ts.getDefaultLibFilePath(o),
  realpath: ts.sys.realpath, fileExists: ts.sys.fileExists, readFile: ts.sys.readFile, readDirectory: ts.sys.readDirectory,
  directoryExists: ts.sys.directoryExists, getDirectories: ts.sys.getDirectories,
});

// Declarations that other files may use: those at the top level that are exported, and the methods of such classes.
const candidates = [];
for (const name of names) {
  const source = service.getProgram().getSourceFile(name);
  if (!source || source.isDeclarationFile) continue;
  const add = (id, full, member) => candidates.push({ path: relative(name), at: id.getStart(source), name: full, member });
  for (const s of source.statements) {
    if (!(ts.getCombinedModifierFlags(s) & ts.ModifierFlags.Export)) continue;
    if (ts.isVariableStatement(s)) {
      for (const d of s.declarationList.declarations) if (ts.isIdentifier(d.name)) add(d.name, d.name.text, false);
    } else if (s.name && ts.isIdentifier(s.name)) {
      add(s.name, s.name.text, false);
      if (!ts.isClassDeclaration(s)) continue;
      for (const m of s.members) {
        if (ts.isMethodDeclaration(m) && ts.isIdentifier(m.name)) add(m.name, s.name.text + "." + m.name.text, true);
      }
    }
  }
}
const hash = (c) => crypto.createHash("md5").update(c.path + "#" + c.name).digest("hex");
candidates.sort((a, b) => (hash(a) < hash(b) ? -1 : 1));

const found = [];
const left = { false: count, true: count }, tries = { false: 20 * count, true: 20 * count };
for (const c of candidates) {
  if (left[c.member] === 0 || tries[c.member]-- <= 0) continue;
  // A type and a value may share a name. The same method of a sibling class is a declaration, and no use.
  const same = candidates.filter((d) => d.path === c.path && d.name === c.name);
  if (same[0] !== c) continue;
  const groups = same.flatMap((d) => service.findReferences(path.join(root, d.path), d.at) || []);
  const references = groups.flatMap((g) => g.references).filter((r) => !(c.member && (r.isDefinition || declaresMember(r))));
  const users = new Set(references.map((r) => relative(r.fileName)));
  users.delete(c.path);
  const inside = [...users].filter((f) => sources.includes(f));
  if (!inside.length) continue;
  left[c.member]--;
  found.push({ Path: c.path, Name: c.name, Member: c.member, Users: inside });
}

// declaresMember reports whether a reference is the name of a member in its own declaration, such as an override.
function declaresMember(r) {
  const node = ts.getTokenAtPosition(service.getProgram().getSourceFile(r.fileName), r.textSpan.start);
  const member = node.parent;
  return (ts.isClassElement(member) || ts.isTypeElement(member)) && member.name === node;
}

process.stdout.write(JSON.stringify(found));

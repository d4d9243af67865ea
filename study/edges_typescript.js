// Prints where the imports of TypeScript and JavaScript files lead, as TypeScript resolves
// them. usage: node edges.js ROOT <LIST, the tracked files by line
const ts = require("typescript"), fs = require("fs"), path = require("path");

const root = fs.realpathSync(process.argv[2]);
const files = fs.readFileSync(0, "utf8").split("\n").filter(Boolean);
const tracked = new Set(files);
const relative = (file) => path.relative(root, file).split(path.sep).join("/");

const packages = require("./typescript_links")(root, files);

// The options for a file are those of the nearest tsconfig, or of the project that this
// one refers to and that includes the file.
const configs = new Map();
function readConfig(file) {
  if (!configs.has(file)) {
    const { config } = ts.readConfigFile(file, ts.sys.readFile);
    configs.set(file, ts.parseJsonConfigFileContent(config || {}, ts.sys, path.dirname(file), undefined, file));
  }
  return configs.get(file);
}
function optionsFor(file) {
  for (let dir = path.dirname(file); dir.startsWith(root); dir = path.dirname(dir)) {
    for (const name of ["tsconfig.json", "jsconfig.json"]) {
      const config = path.join(dir, name);
      if (!tracked.has(relative(config))) continue;
      const own = readConfig(config);
      for (const reference of own.fileNames.length ? [] : own.projectReferences || []) {
        const other = ts.resolveProjectReferencePath(reference);
        if (fs.existsSync(other) && readConfig(other).fileNames.includes(file)) return readConfig(other).options;
      }
      return own.options;
    }
  }
  return { module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler, allowJs: true };
}

const edges = [], unclear = [];
for (const from of files.filter((f) => /\.[cm]?[jt]sx?$/.test(f))) {
  const file = path.join(root, from);
  if (!fs.existsSync(file)) continue;
  const options = optionsFor(file);
  const mode = ts.getImpliedNodeFormatForFile(file, undefined, ts.sys, options);
  for (const { fileName } of ts.preProcessFile(fs.readFileSync(file, "utf8"), true, true).importedFiles) {
    const found = ts.resolveModuleName(fileName, file, options, ts.sys, undefined, undefined, mode).resolvedModule;
    if (found) {
      edges.push([from, relative(found.resolvedFileName)]);
      continue;
    }
    const name = fileName.split("/").slice(0, fileName.startsWith("@") ? 2 : 1).join("/");
    for (const dir of packages.get(name) || []) unclear.push([from, dir]);
  }
}
process.stdout.write(JSON.stringify({ edges, unclear, links: packages.size }));

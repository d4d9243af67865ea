// Links the packages of a repository in its node_modules, as an installation of the workspace would, and returns their
// directories by name. The root counts only for a name that no other directory has.
const fs = require("fs"), path = require("path");

module.exports = (root, files) => {
  const packages = new Map(); // directories by name
  for (const file of files.filter((f) => path.basename(f) === "package.json" && !f.includes("node_modules/"))) {
    try {
      const name = JSON.parse(fs.readFileSync(path.join(root, file), "utf8")).name;
      if (name) packages.set(name, [...(packages.get(name) || []), path.posix.dirname(file)]);
    } catch {} // fixtures may be broken on purpose
  }
  for (const [name, all] of packages) {
    const members = all.filter((dir) => dir !== ".");
    if (members.length) packages.set(name, members);
    const link = path.join(root, "node_modules", name);
    if (members.length === 1 && !fs.existsSync(link)) {
      fs.mkdirSync(path.dirname(link), { recursive: true });
      fs.symlinkSync(path.join(root, members[0]), link);
    }
  }
  return packages;
};

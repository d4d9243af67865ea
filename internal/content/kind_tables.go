package content

import (
	"strings"

	"ken/internal/repo"
)

// The tables are switches and not maps, because a map would be built at every start of the program. All
// names are in lower case, except where the parameter is called real.

// isLockfile reports whether a package manager pins its resolved versions in this file.
func isLockfile(base string) bool {
	switch base {
	case "package-lock.json", "npm-shrinkwrap.json", ".package-lock.json", "yarn.lock", "pnpm-lock.yaml",
		"bun.lock", "bun.lockb", "deno.lock", "go.sum", "go.work.sum", "gopkg.lock", "glide.lock",
		"cargo.lock", "poetry.lock", "pdm.lock", "uv.lock", "pixi.lock", "pipfile.lock", "conda-lock.yml",
		"gemfile.lock", "gems.locked", "composer.lock", "flake.lock", "mix.lock", "rebar.lock", "podfile.lock",
		"cartfile.resolved", "package.resolved", "gradle.lockfile", "buildscript-gradle.lockfile",
		"packages.lock.json", "project.assets.json", "paket.lock", "pubspec.lock", "conan.lock", "vcpkg-lock.json",
		"module.bazel.lock", "cabal.project.freeze", "stack.yaml.lock", "spago.lock", "shard.lock", "manifest.toml.lock",
		"elm-stuff.lock", "berksfile.lock", "puppetfile.lock", ".terraform.lock.hcl", "chart.lock", "requirements.lock",
		"buf.lock", "devbox.lock", "mise.lock", "pylock.toml", "julia.lock", "opam.locked", "dub.selections.json":
		return true
	}
	return false
}

// isWrapper reports whether build tools copy this script or settings file into every project.
func isWrapper(base string) bool {
	switch base {
	case "gradlew", "gradlew.bat", "mvnw", "mvnw.cmd", ".pnp.cjs", ".pnp.loader.mjs":
		return true
	}
	return false
}

// isVendorDir reports whether tools put other projects' files in this directory. The case must match.
func isVendorDir(real string) bool {
	switch real {
	case "vendor", "vendored", "node_modules", "bower_components", "jspm_packages", "third_party", "third-party", "thirdparty",
		"3rdparty", "Godeps", "_vendor", "Pods", "Carthage", ".yarn", ".bundle", "elm-stuff", "site-packages", ".venv", "venv":
		return true
	}
	return false
}

// isGeneratedName reports whether generators use this name.
func isGeneratedName(n name) bool {
	switch n.ext {
	case "map":
		return has(n.stem, ".js") || has(n.stem, ".css") || has(n.stem, ".mjs") || has(n.stem, ".cjs") || has(n.stem, ".ts")
	case "js", "mjs", "cjs":
		return has(n.stem, ".min") || has(n.stem, "-min") || has(n.stem, ".bundle") || has(n.stem, "_pb") || has(n.stem, ".pb") || generatedStem(n.stem)
	case "css":
		return has(n.stem, ".min") || has(n.stem, "-min")
	case "go":
		return has(n.stem, ".pb") || has(n.stem, ".pb.gw") || has(n.stem, "_gen") || strings.HasPrefix(n.stem, "zz_generated") || generatedStem(n.stem)
	case "py", "pyi":
		return has(n.stem, "_pb2") || has(n.stem, "_pb2_grpc") || generatedStem(n.stem)
	case "cc", "cpp", "h", "hpp", "c", "m", "swift", "rb", "rs", "php":
		return has(n.stem, ".pb") || has(n.stem, ".pb-c") || has(n.stem, ".pbobjc") || has(n.stem, "_pb") || generatedStem(n.stem)
	case "cs", "vb":
		return has(n.stem, ".designer") || has(n.stem, ".g") || has(n.stem, ".g.i") || generatedStem(n.stem)
	case "dart":
		return has(n.stem, ".g") || has(n.stem, ".freezed") || has(n.stem, ".mocks") || has(n.stem, ".pb") || has(n.stem, ".gr")
	case "ts", "tsx", "kt", "java", "graphql", "json", "yaml", "yml":
		return has(n.stem, "_pb") && n.ext == "ts" || generatedStem(n.stem)
	case "snap":
		return true
	}
	return false
}

func generatedStem(stem string) bool {
	return has(stem, ".generated") || has(stem, "_generated") || has(stem, ".gen")
}

func has(s, suffix string) bool { return len(s) > len(suffix) && strings.HasSuffix(s, suffix) }

// isBinaryExt reports whether a format with this extension is never text, regardless of the content: a PDF
// begins with pages of ASCII, and a file may be empty. Extensions that text formats share, such as obj, ts
// or dat, are not included.
func isBinaryExt(ext string) bool {
	switch ext {
	case "png", "jpg", "jpeg", "jpe", "gif", "bmp", "ico", "icns", "cur", "tif", "tiff", "webp", "avif", "heic", "heif", "jp2", "psd", "xcf", "dds", "ktx",
		"mp3", "mp4", "m4a", "m4v", "wav", "flac", "ogg", "oga", "ogv", "opus", "aac", "avi", "mov", "mkv", "webm", "wmv", "flv", "mpg", "mpeg",
		"pdf", "doc", "docx", "xls", "xlsx", "ppt", "pptx", "odt", "ods", "odp", "epub", "mobi",
		"zip", "gz", "tgz", "bz2", "tbz2", "xz", "txz", "zst", "lz4", "lzma", "br", "7z", "rar", "tar", "cab", "iso", "dmg", "pkg", "deb", "rpm", "apk", "ipa",
		"jar", "war", "ear", "aar", "whl", "egg", "gem", "nupkg", "crate",
		"woff", "woff2", "ttf", "otf", "ttc", "eot",
		"so", "dll", "dylib", "exe", "msi", "lib", "o", "class", "pyc", "pyo", "pyd", "elc", "beam", "wasm", "pdb", "dex", "ilk", "node",
		"sqlite", "sqlite3", "mdb", "accdb", "parquet", "avro", "orc", "arrow", "feather", "npy", "npz", "pkl", "pickle", "h5", "hdf5", "rdb", "mo",
		"onnx", "safetensors", "gguf", "pt", "pth", "tflite", "keystore", "jks", "p12", "pfx", "swf", "blend", "fbx", "glb", "nib":
		return true
	}
	return false
}

// kindOfName returns the kind of a file by its whole name. Build files with logic (Makefile, Rakefile,
// CMakeLists.txt) are source. A Dockerfile and files that only set values are config.
func kindOfName(n name) repo.Kind {
	switch n.base {
	case "makefile", "gnumakefile", "bsdmakefile", "makefile.am", "makefile.in", "kbuild", "cmakelists.txt", "meson.build", "sconstruct", "sconscript",
		"rakefile", "gemfile", "guardfile", "capfile", "vagrantfile", "brewfile", "fastfile", "podfile", "dangerfile", "berksfile",
		"jenkinsfile", "build.bazel", "build", "workspace", "workspace.bazel", "module.bazel", "tiltfile", "earthfile", "justfile", "wscript",
		"configure.ac", "configure.in", "snakefile", "build.gradle", "settings.gradle", "setup.py":
		return repo.KindSource
	case "dockerfile", "containerfile", ".dockerignore", ".gitignore", ".gitattributes", ".gitmodules", ".gitkeep", ".keep", ".mailmap", ".git-blame-ignore-revs",
		".editorconfig", ".npmrc", ".npmignore", ".nvmrc", ".node-version", ".yarnrc", ".yarnrc.yml", ".babelrc", ".eslintrc", ".eslintignore",
		".prettierrc", ".prettierignore", ".stylelintrc", ".browserslistrc", ".jshintrc", ".swcrc", ".nycrc", ".mocharc", ".huskyrc", ".lintstagedrc",
		".python-version", ".ruby-version", ".tool-versions", ".flake8", ".pylintrc", "pylintrc", ".coveragerc", ".bazelrc", ".bazelversion", ".clang-format", ".clang-tidy",
		".rubocop.yml", ".rspec", ".env", ".envrc", ".htaccess", ".inputrc", ".vimrc", ".bashrc", ".zshrc", ".profile", ".gitconfig", ".hgignore", ".helmignore",
		"codeowners", "procfile", "caddyfile", "go.mod", "go.work", "pipfile", "gopkg.toml", "manifest.in", "package.json", "composer.json", "bower.json", "lerna.json", "nx.json", "turbo.json",
		"angular.json", "deno.json", "vercel.json", "now.json", "firebase.json", "renovate.json", "biome.json", "components.json", "global.json", "appsettings.json", "launchsettings.json",
		"plugin.json", "settings.json", "launch.json", "tasks.json", "extensions.json", "devcontainer.json", "cmakepresets.json", "vcpkg.json", "app.json", "babel.config.json", "jest.config.json",
		"project.json", "rush.json", "tslint.json", "nest-cli.json", "web.config", "app.config", "nuget.config", "packages.config", "pom.xml", "androidmanifest.xml", "ivy.xml",
		"requirements.txt", "constraints.txt", "requirements-dev.txt", "dev-requirements.txt", "runtime.txt", "robots.txt":
		return repo.KindConfig
	case "readme", "license", "licence", "copying", "copyright", "notice", "authors", "contributors", "maintainers", "changelog", "changes", "history", "news",
		"todo", "install", "patents", "unlicense", "thanks", "credits", "contributing", "security", "support", "faq", "bugs":
		return repo.KindDoc
	}
	switch {
	case n.ext == "json":
		if strings.HasPrefix(n.base, ".") || strings.HasPrefix(n.base, "tsconfig") || strings.HasPrefix(n.base, "jsconfig") ||
			has(n.stem, "config") || has(n.stem, "settings") || strings.HasPrefix(n.stem, "appsettings.") {
			return repo.KindConfig
		}
	case strings.HasPrefix(n.base, "dockerfile.") || n.ext == "dockerfile", strings.HasPrefix(n.base, ".env."):
		return repo.KindConfig
	case strings.HasPrefix(n.base, "makefile."):
		return repo.KindSource
	case strings.HasPrefix(n.base, "license-") || strings.HasPrefix(n.base, "license."), strings.HasPrefix(n.base, "readme."):
		if kindOfExt(n.ext) != repo.KindSource {
			return repo.KindDoc
		}
	case n.ext == "" && strings.HasPrefix(n.base, ".") && strings.HasSuffix(n.base, "rc"),
		n.ext == "" && strings.HasPrefix(n.base, ".") && strings.HasSuffix(n.base, "ignore"):
		return repo.KindConfig
	}
	return repo.KindUnknown
}

// kindOfExt returns the kind of a file by its extension.
func kindOfExt(ext string) repo.Kind {
	switch ext {
	case "go", "c", "h", "cc", "cpp", "cxx", "c++", "hh", "hpp", "hxx", "h++", "inl", "ipp", "ixx", "cppm", "m", "mm", "cu", "cuh", "s", "asm",
		"rs", "zig", "nim", "d", "v", "sv", "svh", "vhd", "vhdl", "java", "kt", "kts", "scala", "sc", "sbt", "groovy", "gradle", "gvy", "clj", "cljs", "cljc", "edn",
		"cs", "csx", "fs", "fsi", "fsx", "vb", "vbs", "bas", "cls", "swift", "dart", "py", "pyi", "pyx", "pxd", "pyw", "ipynb", "rb", "erb", "rake", "gemspec", "cr",
		"js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "coffee", "ls", "vue", "svelte", "astro", "elm", "purs", "res", "resi", "re", "rei",
		"php", "phtml", "phpt", "pl", "pm", "t", "raku", "lua", "luau", "tcl", "r", "rmd", "jl", "mat", "hs", "lhs", "ml", "mli", "mll", "mly", "ex", "exs", "eex", "heex", "erl", "hrl",
		"lisp", "cl", "el", "scm", "ss", "rkt", "fnl", "pro", "prolog", "ada", "adb", "ads", "f", "f77", "f90", "f95", "f03", "f08", "for", "pas", "pp", "dpr", "cob", "cbl",
		"sh", "bash", "zsh", "fish", "ksh", "csh", "bats", "ps1", "psm1", "psd1", "bat", "cmd", "awk", "sed", "vim", "nu",
		"html", "htm", "xhtml", "css", "scss", "sass", "less", "styl", "pug", "jade", "haml", "slim", "hbs", "handlebars", "mustache", "ejs", "njk", "liquid", "twig", "jinja", "jinja2", "j2", "tmpl", "gotmpl", "tpl", "templ", "cshtml", "razor", "jsp", "aspx",
		"sql", "psql", "plsql", "prisma", "proto", "thrift", "fbs", "capnp", "avdl", "graphql", "gql", "glsl", "vert", "frag", "geom", "comp", "hlsl", "fx", "metal", "wgsl", "cg", "shader",
		"sol", "vy", "move", "cairo", "wat", "wast", "ll", "td", "y", "yy", "l", "lex", "g4", "peg", "pest", "nix", "dhall", "rego", "cue", "jsonnet", "libsonnet", "starlark", "bzl", "star", "cmake", "mk", "mak", "ninja", "am", "ac", "m4", "gn", "gni",
		"gd", "hx", "as", "ahk", "au3", "applescript", "qml", "bicep", "puppet", "robot", "feature", "tla", "lean", "agda", "idr", "thy", "st", "apl", "bqn", "odin", "jai", "hack", "mojo", "gleam", "roc", "pony", "vala", "vapi", "dts", "dtsi", "ld", "lds":
		return repo.KindSource
	case "yaml", "yml", "toml", "ini", "cfg", "conf", "config", "cnf", "properties", "props", "targets", "env", "json5", "jsonc", "hcl", "tf", "tfvars", "plist", "pbxproj", "xcconfig", "xcscheme", "storyboard", "xib",
		"csproj", "fsproj", "vbproj", "vcxproj", "sln", "slnx", "filters", "ruleset", "editorconfig", "service", "socket", "timer", "mount", "desktop", "spec", "nuspec", "podspec", "cabal", "opam", "rules", "gitignore", "dockerignore", "kdl", "mod", "work", "pro.user", "xcworkspacedata", "reg", "inf", "iml", "code-workspace", "webmanifest", "defconfig", "modulemap":
		return repo.KindConfig
	case "md", "markdown", "mdx", "mdc", "rst", "txt", "text", "adoc", "asciidoc", "org", "tex", "ltx", "sty", "bib", "texi", "texinfo", "pod", "rdoc", "textile", "wiki", "mediawiki", "creole", "man", "roff", "me", "ms", "1", "2", "3", "4", "5", "6", "7", "8", "rtf", "typ", "qmd", "license", "readme", "changelog", "puml", "plantuml", "mmd", "mermaid", "dot", "d2":
		return repo.KindDoc
	case "csv", "tsv", "psv", "json", "jsonl", "ndjson", "geojson", "topojson", "xml", "xsd", "xsl", "xslt", "dtd", "rss", "atom", "svg", "wsdl", "rdf", "ttl", "nt", "n3", "owl", "po", "pot", "xlf", "xliff", "resx", "strings", "stringsdict", "arb", "ftl", "ics", "vcf", "eml", "log", "out", "golden", "diff", "patch", "pem", "crt", "cer", "key", "pub", "asc", "sig", "sum", "lock", "dat", "data", "srt", "vtt", "gpx", "kml", "stl", "obj", "mtl", "gltf", "ply", "har", "lcov", "snapshot", "txtar", "list", "lst", "map", "fasta", "fa", "fastq", "vcd", "dump":
		return repo.KindData
	}
	return repo.KindUnknown
}

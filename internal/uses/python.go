package uses

import (
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// pythonRules finds modules as Python does, from the roots that a file's place and the
// manifests suggest.
type pythonRules struct{ r *Resolver }

// reexports returns true: others can import every name that a module imports.
func (pythonRules) reexports(*outline.Import) bool { return true }

func (pythonRules) sharesGlobals() bool { return false }

func (pythonRules) exported(*decl) bool { return true }

// inStar reports whether a list in __all__ has the name. Without a list, names with an underscore stay private.
func (pythonRules) inStar(f *fileFacts, name string) bool {
	isListed := false
	for i := range f.imports {
		if f.imports[i].Module != "" {
			continue
		}
		isListed = true
		if slices.ContainsFunc(f.imports[i].Names, func(b outline.Binding) bool { return b.Name == name || b.Name == "*" }) {
			return true
		}
	}
	if isListed {
		return false
	}
	return !strings.HasPrefix(name, "_") || len(f.decls.top("__all__")) > 0
}

func (s pythonRules) submodule(mod module, name string) (module, bool) {
	if name == "" || name == "*" || mod.file != "" && !isPackageFile(mod.file) {
		return module{}, false
	}
	found, ok := s.r.pythonModule(mod.dir, []string{name})
	found.certainty = mod.certainty
	return found, ok
}

func isPackageFile(p repo.Path) bool {
	return p.Base() == "__init__.py" || p.Base() == "__init__.pyi"
}

// resolve returns the module that an import means.
func (s pythonRules) resolve(_ *collector, from repo.Path, spec string) (module, state) {
	if strings.HasPrefix(spec, ".") {
		return s.relative(from, spec)
	}
	if name, ok := strings.CutPrefix(spec, outline.TextModulePrefix); ok {
		return s.inText(from, name)
	}
	names := strings.Split(spec, ".")
	if pythonStdlib()[names[0]] && !s.inPackage(from, names[0]) {
		return module{}, outside
	}
	return s.r.pythonAbsolute(from, names)
}

// inText returns the module that a string names. Its last part may be a name in the module.
func (s pythonRules) inText(from repo.Path, text string) (module, state) {
	text, _, hasAttribute := strings.Cut(text, ":")
	names := strings.Split(text, ".")
	if pythonStdlib()[names[0]] {
		return module{}, outside
	}
	for n := len(names); n > 1 || n == 1 && hasAttribute; n-- {
		mod, st := s.r.pythonAbsolute(from, names[:n])
		if st == inside && mod.file != "" && mod.file != from {
			mod.certainty = Likely
			return mod, inside
		}
		if n < len(names) {
			break
		}
	}
	return module{}, outside
}

// relative resolves an import that begins with dots.
func (s pythonRules) relative(from repo.Path, spec string) (module, state) {
	rest := strings.TrimLeft(spec, ".")
	dir := from.Dir()
	for range len(spec) - len(rest) - 1 {
		if dir == "" {
			return module{}, outside
		}
		dir = dir.Dir()
	}
	var names []string
	if rest != "" {
		names = strings.Split(rest, ".")
	}
	mod, ok := s.r.pythonModule(dir, names)
	if !ok {
		return module{}, unresolved
	}
	mod.certainty = Exact
	return mod, inside
}

// inPackage reports whether a file is part of a top-level package of that name.
func (s pythonRules) inPackage(from repo.Path, name string) bool {
	top := s.r.pythonTop(from.Dir())
	return top != from.Dir() && from.Under(under(top, name))
}

// pythonTop returns the directory above the topmost package around a directory, or the
// directory itself if it is not a package.
func (r *Resolver) pythonTop(dir repo.Path) repo.Path {
	for dir != "" && r.isPackage(dir) {
		dir = dir.Dir()
	}
	return dir
}

func (r *Resolver) isPackage(dir repo.Path) bool {
	return r.has(under(dir, "__init__.py")) || r.has(under(dir, "__init__.pyi"))
}

// pythonModule returns the module of some names below a directory. Without names it is the
// directory's own package.
func (r *Resolver) pythonModule(dir repo.Path, names []string) (module, bool) {
	at := dir
	for i, name := range names {
		if name == "" || strings.ContainsAny(name, "/\\") || name == ".." {
			return module{}, false
		}
		next := under(at, name)
		if i == len(names)-1 && !r.isPackage(next) {
			for _, ext := range []repo.Path{".py", ".pyi"} {
				if r.has(next + ext) {
					return module{file: next + ext}, true
				}
			}
		}
		at = next
	}
	for _, name := range []string{"__init__.py", "__init__.pyi"} {
		if p := under(at, name); r.has(p) {
			return module{file: p, dir: at}, true
		}
	}
	if len(names) > 0 && !r.pyDirs()[at] {
		return module{}, false
	}
	return module{dir: at}, true
}

func (r *Resolver) readPyDirs() map[repo.Path]bool {
	isPython := func(p repo.Path) bool {
		return strings.HasSuffix(string(p), ".py") || strings.HasSuffix(string(p), ".pyi")
	}
	dirs := make(map[repo.Path]bool)
	for dir, files := range r.dirs {
		if dirs[dir] || !slices.ContainsFunc(files, isPython) {
			continue
		}
		for d := range dir.Upward() {
			dirs[d] = true
		}
	}
	return dirs
}

// pythonAbsolute resolves an absolute import from the roots that a file may have.
//
// The root of the file's own package is certain: the file was imported through it. The
// other roots are the directories above, their src directories and the directories in manifests; if
// two of them have the module, it is not known which is meant. Last comes the only package
// of that name in the tree, which may be found through PYTHONPATH: that is only likely.
func (r *Resolver) pythonAbsolute(from repo.Path, names []string) (module, state) {
	top := r.pythonTop(from.Dir())
	if mod, ok := r.pythonModule(top, names); ok && mod.file != "" {
		mod.certainty = Exact
		return mod, inside
	}
	plain := module{} // a directory without __init__.py
	for _, roots := range [][]repo.Path{r.rootsAbove(top), r.pyProjectRoots()} {
		mod, st := r.pythonAmong(roots, names)
		mod.certainty = Exact
		switch {
		case st == several, st == inside && mod.file != "":
			return mod, st
		case st == inside && plain.dir == "":
			plain = mod
		}
	}
	if plain.dir != "" {
		return plain, inside
	}
	var dirs []repo.Path
	for _, dir := range r.pyPackages()[names[0]] {
		if !isFixture(dir) {
			dirs = append(dirs, dir.Dir())
		}
	}
	if mod, st := r.pythonAmong(dirs, names); st == inside && len(dirs) == 1 {
		mod.certainty = Likely
		return mod, inside
	}
	if r.pyNames()[names[0]] {
		return module{}, unresolved
	}
	return module{}, outside
}

// pythonAmong resolves names below several roots.
func (r *Resolver) pythonAmong(roots []repo.Path, names []string) (module, state) {
	var found []module
	for _, root := range roots {
		mod, ok := r.pythonModule(root, names)
		if !ok {
			continue
		}
		// A package hides directories of the same name under other roots.
		if mod.file != "" && len(found) == 1 && found[0].file == "" {
			found[0] = mod
			continue
		}
		if len(found) > 0 && (mod.file == "" || mod == found[0]) {
			continue
		}
		found = append(found, mod)
	}
	switch len(found) {
	case 0:
		return module{}, unknown
	case 1:
		return found[0], inside
	default:
		return module{}, several
	}
}

// rootsAbove returns a directory, the directories above it, and their src directories.
func (r *Resolver) rootsAbove(top repo.Path) []repo.Path {
	roots, err := r.pyRoots.get(top, func() ([]repo.Path, error) {
		var roots []repo.Path
		for dir := range top.Upward() {
			roots = append(roots, dir)
			if src := under(dir, "src"); r.pyDirs()[src] && !r.isPackage(src) {
				roots = append(roots, src)
			}
			roots = append(roots, r.python.extra[dir]...)
		}
		return roots, nil
	})
	if err != nil {
		return nil
	}
	return roots
}

// readPyNames returns the names of all modules, packages and directories with Python files.
func (r *Resolver) readPyNames() map[string]bool {
	names := make(map[string]bool)
	for dir := range r.pyDirs() {
		names[dir.Base()] = true
		for _, p := range r.dirs[dir] {
			name, _, _ := strings.Cut(p.Base(), ".")
			names[name] = true
		}
	}
	return names
}

func (r *Resolver) readPyPackages() map[string][]repo.Path {
	tops := make(map[string][]repo.Path)
	for dir := range r.dirs {
		isTop := dir != "" && r.isPackage(dir) && !r.isPackage(dir.Dir())
		if isTop && !isForeign(under(dir, "x")) {
			tops[dir.Base()] = append(tops[dir.Base()], dir)
		}
	}
	return tops
}

// isFixture reports whether a directory holds copies, examples or test data: a package in it
// may have the name of one from outside.
func isFixture(dir repo.Path) bool {
	for part := range strings.SplitSeq(string(dir), "/") {
		switch part {
		case "test", "tests", "testing", "testdata", "fixtures", "data", "examples", "example", "vendor", "_vendor", "vendored", "third_party", "thirdparty", "external", "build", "dist", "stubs", "typings":
			return true
		}
	}
	return false
}

var pythonStdlib = set(`
	__future__ _thread abc aifc argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii binhex bisect builtins
	bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys compileall concurrent configparser
	contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses datetime dbm decimal difflib dis distutils doctest email
	encodings ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch formatter fractions ftplib functools gc genericpath
	getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http idlelib imaplib imghdr imp importlib inspect io
	ipaddress itertools json keyword lib2to3 linecache locale logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder
	msilib msvcrt multiprocessing netrc nis nntplib ntpath numbers opcode operator optparse os ossaudiodev parser pathlib pdb pickle
	pickletools pipes pkgutil platform plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc
	pydoc_data pyexpat queue quopri random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex
	shutil signal site smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics
	string stringprep struct subprocess sunau symbol symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios
	textwrap this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing
	unicodedata unittest urllib uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc zipapp
	zipfile zipimport zlib zoneinfo typing_extensions _typeshed
`)

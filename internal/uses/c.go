package uses

import (
	"slices"
	"strings"

	"ken/internal/outline"
	"ken/internal/repo"
)

// maxIncludes is how many headers of a file are searched for a name.
const maxIncludes = 400

// cEdges resolves includes, and names through the headers that they reach.
func (r *Resolver) cEdges(e *collector) {
	for i := range e.refs.Imports {
		im := &e.refs.Imports[i]
		switch paths := r.included(e.from.Path, im.Module); len(paths) {
		case 0:
			if cStandard()[strings.Trim(im.Module, `"<>`)] {
				e.settleImport(im)
			}
		case 1:
			e.add(target{path: paths[0]}, "", Exact, importMention(im))
			e.settleImport(im)
		default:
			e.ambiguous++
		}
	}
	headers := e.headersOf(e.from)
	for i := range e.uses {
		e.cUse(&e.uses[i], headers)
	}
}

// included returns the files that an include may mean: the one relative to the including
// file, else all whose path ends like it.
func (r *Resolver) included(from repo.Path, name string) []repo.Path {
	name = strings.Trim(name, `"<>`)
	if name == "" || cStandard()[name] {
		return nil
	}
	if p, ok := join(from.Dir(), name); ok && r.has(p) {
		return []repo.Path{p}
	}
	for strings.HasPrefix(name, "../") || strings.HasPrefix(name, "./") {
		_, name, _ = strings.Cut(name, "/")
	}
	var found []repo.Path
	for _, p := range r.byBase()[repo.Path(name).Base()] {
		if p == repo.Path(name) || strings.HasSuffix(string(p), "/"+name) {
			found = append(found, p)
		}
	}
	return found
}

func (r *Resolver) readBases() map[string][]repo.Path {
	all := make(map[string][]repo.Path)
	for p := range r.files {
		if !isForeign(p) {
			all[p.Base()] = append(all[p.Base()], p)
		}
	}
	return all
}

// headersOf returns the files that a file includes, directly or through others.
func (e *collector) headersOf(f *ParsedFile) []repo.Path {
	var list []repo.Path
	seen := map[repo.Path]bool{f.Path: true}
	queue := []*fileFacts{e.file(f.Path)}
	for len(queue) > 0 && len(list) < maxIncludes {
		at := queue[0]
		queue = queue[1:]
		for i := range at.imports {
			paths := e.r.included(at.path, at.imports[i].Module)
			if len(paths) != 1 || seen[paths[0]] {
				continue
			}
			seen[paths[0]] = true
			list = append(list, paths[0])
			if next := e.file(paths[0]); next != nil {
				queue = append(queue, next)
			}
		}
	}
	return list
}

// cUse adds the edges of one use: to the header that declares the name, and to the only file
// that defines a function of the header.
func (e *collector) cUse(u *use, headers []repo.Path) {
	if u.Member && u.Qualifier == "" {
		e.cMember(u, headers)
		return
	}
	full := u.Name
	if u.Qualifier != "" {
		full = strings.ReplaceAll(u.Qualifier, "::", ".") + "." + u.Name
	}
	found := e.cNamed(full, headers)
	m := mentionOf(u)
	if len(found) == 0 && u.Qualifier != "" {
		// A member that is inherited still uses its type.
		found = e.cNamed(strings.ReplaceAll(u.Qualifier, "::", "."), headers)
		m = m.plain()
	}
	switch len(found) {
	case 0:
		return
	case 1:
	default:
		e.ambiguous++
		return
	}
	d := found[0]
	if d.path == e.from.Path {
		m.settle()
		return
	}
	others := e.cDeclarations(&d)
	certainty := Exact
	if slices.ContainsFunc(others, func(t target) bool { return isHeader(t.path) && t.path != d.path }) {
		certainty = Likely // a header for another system, perhaps
	}
	e.add(d.target(), "", certainty, m)
	if d.kind != outline.Func && d.kind != outline.Method {
		return
	}
	sources := slices.DeleteFunc(others, func(t target) bool { return isHeader(t.path) })
	if len(sources) == 1 {
		e.add(sources[0], "", Likely, m)
	}
}

// cNamed returns the declarations of a name in headers. In C++ a namespace may be left out.
func (e *collector) cNamed(full string, headers []repo.Path) []decl {
	last := lastPart(full, ".")
	var found []decl
	for _, p := range headers {
		index := e.declared(p)
		found = append(found, index.find(last, func(d *decl) bool {
			space, isLonger := strings.CutSuffix(d.fullName(), "."+full)
			if !isLonger {
				return d.fullName() == full
			}
			isType := func(d decl) bool { return isTypeKind(d.kind) && d.kind != outline.Module }
			return e.from.Language == outline.CPP && !slices.ContainsFunc(index.full(space), isType)
		})...)
	}
	return found
}

// cDeclarations returns where the tree declares a full name in C or C++.
func (e *collector) cDeclarations(of *decl) []target {
	var found []target
	for _, d := range e.declarations(of.name) {
		isC := familyOf(outline.LanguageOf(d.path, nil)) == outline.C && !isForeign(d.path)
		if isC && d.fullName() == of.fullName() && !slices.Contains(found, d.target()) {
			found = append(found, d.target())
		}
	}
	return found
}

// cMember adds a likely edge to the only declaration of a member in the headers.
func (e *collector) cMember(u *use, headers []repo.Path) {
	found := e.declared(e.from.Path).members(u.Name)
	for _, p := range headers {
		found = append(found, e.declared(p).members(u.Name)...)
	}
	e.addMember(openMember{use: u}, found)
}

func isHeader(p repo.Path) bool {
	base := p.Base()
	i := strings.LastIndexByte(base, '.')
	if i < 0 {
		return false
	}
	switch base[i:] {
	case ".h", ".hh", ".hpp", ".hxx", ".h++", ".inl", ".ipp", ".tcc", ".tpp":
		return true
	}
	return false
}

// cStandard has the headers of the standard libraries: a file of that name in the repository is not meant.
var cStandard = set(`
	assert.h complex.h ctype.h errno.h fenv.h float.h inttypes.h iso646.h limits.h locale.h math.h setjmp.h signal.h stdalign.h
	stdarg.h stdatomic.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h tgmath.h threads.h time.h uchar.h
	wchar.h wctype.h strings.h unistd.h fcntl.h pthread.h dirent.h poll.h netdb.h grp.h pwd.h syslog.h termios.h dlfcn.h
	semaphore.h sched.h glob.h regex.h windows.h sys/types.h sys/stat.h sys/time.h sys/socket.h sys/wait.h sys/mman.h sys/ioctl.h
	sys/select.h sys/resource.h sys/uio.h sys/un.h sys/epoll.h sys/event.h sys/param.h netinet/in.h netinet/tcp.h arpa/inet.h
	algorithm any array atomic bitset cassert cctype cerrno cfloat charconv chrono climits cmath codecvt compare complex concepts
	condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cwchar cwctype deque
	exception execution filesystem format forward_list fstream functional future initializer_list iomanip ios iosfwd iostream
	istream iterator latch limits list locale map memory memory_resource mutex new numbers numeric optional ostream queue random
	ranges ratio regex scoped_allocator semaphore set shared_mutex span sstream stack stdexcept stop_token streambuf string
	string_view strstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray
	variant vector version
`)

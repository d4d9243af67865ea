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
		case 1:
			e.add(target{path: paths[0]}, "", Exact, importMention(im))
		default:
			e.ambiguous++
		}
	}
	headers := e.headersOf(e.from)
	for i := range e.refs.Uses {
		e.cUse(&e.refs.Uses[i], headers)
	}
}

// included returns the files that an include may mean: the one relative to the including
// file, else all whose path ends like it.
func (r *Resolver) included(from repo.Path, name string) []repo.Path {
	name = strings.Trim(name, `"<>`)
	if name == "" || cStandard[name] {
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
func (e *collector) headersOf(f *File) []repo.Path {
	var list []repo.Path
	seen := map[repo.Path]bool{f.Path: true}
	queue := []*File{f}
	for len(queue) > 0 && len(list) < maxIncludes {
		at := queue[0]
		queue = queue[1:]
		for i := range at.Imports {
			paths := e.r.included(at.Path, at.Imports[i].Module)
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
func (e *collector) cUse(u *outline.Use, headers []repo.Path) {
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
		return
	}
	e.add(d.target(), "", Exact, m)
	if d.symbol.Kind == outline.Func || d.symbol.Kind == outline.Method {
		e.cDefinition(d, m)
	}
}

// cNamed returns the declarations of a name in headers. A namespace may be left out.
func (e *collector) cNamed(full string, headers []repo.Path) []decl {
	last := lastPart(full, ".")
	var found []decl
	for _, p := range headers {
		found = append(found, e.declared(p).find(last, func(s *outline.Symbol) bool {
			name := s.FullName()
			isMember := s.Kind == outline.Method || s.Kind == outline.Field
			if full == last && isMember {
				return false
			}
			return name == full || strings.HasSuffix(name, "."+full)
		})...)
	}
	return found
}

// cDefinition adds a likely edge to the only source file that defines what a header
// declares.
func (e *collector) cDefinition(header decl, m mention) {
	all, err := e.r.src.Declarations(header.symbol.Name)
	if err != nil {
		e.fail(err)
		return
	}
	var found []target
	for i := range all {
		d := &all[i]
		if isHeader(d.Path) || familyOf(outline.LanguageOf(d.Path, nil)) != outline.C || isForeign(d.Path) {
			continue
		}
		if d.Symbol.FullName() != header.symbol.FullName() {
			continue
		}
		t := target{d.Path, d.Symbol.FullName()}
		if !slices.Contains(found, t) {
			found = append(found, t)
		}
	}
	if len(found) == 1 {
		e.add(found[0], "", Likely, m)
	}
}

// cMember adds a likely edge to the only declaration of a member in the headers.
func (e *collector) cMember(u *outline.Use, headers []repo.Path) {
	found := e.declared(e.from.Path).members(u.Name)
	for _, p := range headers {
		found = append(found, e.declared(p).members(u.Name)...)
	}
	e.onlyOne(found, u)
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

// Headers of the standard libraries: a file of that name in the repository is not meant.
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

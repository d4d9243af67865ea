package lives

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// The model of files, in plain words.
//
//   - The content of a tracked file is the blob that `git add` would store for its bytes now,
//     under the attributes that hold now. The stat, the index and the time of looking do not
//     matter. A file under a filter driver is known by its raw bytes.
//   - A text is written from a content. For the content that is there now:
//     1. the newest text that was written from exactly it, at any path: fresh;
//     2. else the newest text of this path, or of a path that the file had before, that was
//     written from a content with the same meaning: fresh, with the grade format. git must
//     have that content, since ken keeps none. A text that was written from the very bytes on
//     disk counts too, when attributes or core.autocrlf now make another blob of them;
//     3. else the newest text written for one of these paths: stale;
//     4. else none.
//   - A file that git tracks and that is not on disk is missing, and never fresh. A file in
//     conflict is never fresh. A file that a sparse checkout left out has the content of the
//     index; under a filter nobody knows its bytes, so its id is unknown, and its summary too.
//   - status, verify, verify --full and summary show say the same at one moment.
//
// Decisions where the design leaves room:
//   - "Newest" goes by the order in which texts were written, in whatever clone.
//   - Rule 2 is about the texts of this path, as ADR 23 decides: comparing with every content
//     that was ever described would cost more than the change. A copy whose comments were
//     edited has no text.
//   - Identical contents share a text: where a text of this path was found, the newest text
//     about the same content is shown, from whatever path.
//   - A copy that was edited has no text, and neither has one of a file that was renamed
//     before: git sees no rename while the source is there.
//   - A file with a filter attribute is known by its raw bytes, whether or not the driver is
//     configured (ADR 23).
//   - git reads no attributes of a directory that a cone leaves out, since nothing there is
//     converted. ken may read them from the index: of a file that a sparse checkout left out,
//     "unknown" is a right answer too.
//   - Where git did not have the content of a text when it was written or came, ken may have
//     looked then and found the grade content, which stays until HEAD moves (ADR 23). Rule 2
//     may then be passed over for that text, although git has the content by now; or it may
//     hold although git still has no such content, since ken saw the bytes on disk.
//   - A path that the file had before does not count if another file is there now.
//   - A rename is one that git shows with a similarity of 50 %: between HEAD and the index, as
//     git status shows it whatever was edited since, or in the history of the path, as git log
//     --follow walks it, if the whole commit shows it, too. The last verified commit does not count: an answer from it would
//     depend on when somebody looked (ADR 23).

// A fileText is a text that ken was told to keep for a content.
type fileText struct {
	path    string
	id      string // the content that it was written from
	text    string
	meaning string
	raw     string // the md5 of the bytes that the author saw, if those were on disk
	lacked  bool   // git did not have the content when the text was written or came
	order   int
}

// A fileState is what git and the disk say about a tracked path.
type fileState struct {
	kind     string // plain, missing, conflicted or sparse
	id       string // "" while nobody can know it
	raw      []byte
	meaning  string
	filtered bool
}

// A sight is the state of one work tree at one moment.
type sight struct {
	place string
	head  string
	files map[string]fileState
	have  map[string]bool // contents that git has, as far as somebody asked
}

// observe asks plain git what there is.
func (l *life) observe(place string) *sight {
	s := &sight{place: place, files: map[string]fileState{}, have: map[string]bool{}}
	head, _ := l.try(place, "rev-parse", "-q", "--verify", "HEAD")
	s.head = strings.TrimSpace(head)

	type entry struct{ mode, id string }
	staged := map[string]entry{}
	skipped := map[string]bool{}
	for line := range strings.SplitSeq(l.git(place, "ls-files", "-z", "--stage", "-v"), "\x00") {
		meta, name, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		f := strings.Fields(meta) // tag, mode, id, stage
		if f[3] != "0" {
			s.files[name] = fileState{kind: "conflicted"}
			continue
		}
		staged[name] = entry{mode: f[1], id: f[2]}
		skipped[name] = f[0] == "S" || f[0] == "s"
	}
	filtered := l.filtered(place, slices.Collect(maps.Keys(staged)))

	// A scratch index has the entries and no stat, so git reads every byte. It writes the
	// blobs into a scratch directory of objects.
	scratch := filepath.Join(l.dir, "scratch")
	os.RemoveAll(scratch)
	os.MkdirAll(filepath.Join(scratch, "objects"), 0o755)
	common := strings.TrimSpace(l.git(place, "rev-parse", "--path-format=absolute", "--git-common-dir"))
	env := []string{
		"GIT_INDEX_FILE=" + filepath.Join(scratch, "index"),
		"GIT_OBJECT_DIRECTORY=" + filepath.Join(scratch, "objects"),
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + filepath.Join(common, "objects"),
	}
	var entries, names strings.Builder
	for name, e := range staged {
		fmt.Fprintf(&entries, "%s %s\t%s\x00", e.mode, e.id, name)
		raw, err := os.ReadFile(filepath.Join(l.at(place), name))
		st := fileState{kind: "plain", filtered: filtered[name]}
		switch {
		case err == nil:
			st.raw = raw
			if st.filtered {
				st.id = blobID(raw)
			} else {
				names.WriteString(name + "\x00")
			}
		case skipped[name]:
			st.kind = "sparse"
			if !st.filtered {
				st.id = e.id
			}
		default:
			st.kind = "missing"
			st.id = e.id
		}
		s.files[name] = st
	}
	if names.Len() > 0 {
		dir := l.at(place)
		_, err := l.run(dir, entries.String(), env, "git", "update-index", "-z", "--index-info")
		if err == nil {
			_, err = l.run(dir, names.String(), env, "git", "update-index", "-z", "--stdin")
		}
		var listed string
		if err == nil {
			listed, err = l.run(dir, "", env, "git", "ls-files", "-z", "--stage")
		}
		if err != nil && l.tb.Context().Err() == nil {
			l.tb.Errorf("seed %d: observe %s: %v", l.seed, place, err)
			l.dead = true
		}
		for line := range strings.SplitSeq(listed, "\x00") {
			meta, name, ok := strings.Cut(line, "\t")
			st, tracked := s.files[name]
			if ok && tracked && st.kind == "plain" && !st.filtered {
				st.id = strings.Fields(meta)[1]
				s.files[name] = st
			}
		}
	}
	for name, st := range s.files {
		content := string(st.raw)
		// The meaning is that of the bytes that git stores.
		if unix := strings.ReplaceAll(content, "\r\n", "\n"); st.id == blobID([]byte(unix)) {
			content = unix
		}
		if st.kind == "sparse" && st.id != "" {
			content, _ = l.try(place, "cat-file", "blob", st.id)
		}
		st.meaning = meaning(name, content)
		s.files[name] = st
	}
	return s
}

// filtered returns the paths whose filter attribute names a driver.
func (l *life) filtered(place string, names []string) map[string]bool {
	found := map[string]bool{}
	if len(names) == 0 {
		return found
	}
	out, err := l.run(l.at(place), strings.Join(names, "\x00")+"\x00", nil, "git", "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		l.tb.Errorf("seed %d: %v", l.seed, err)
	}
	f := strings.Split(out, "\x00") // path, attribute, value, …
	for i := 0; i+2 < len(f); i += 3 {
		found[f[i]] = f[i+2] != "set" && f[i+2] != "unset" && f[i+2] != "unspecified"
	}
	return found
}

// has reports whether git has a content.
func (l *life) has(s *sight, id string) bool {
	have, asked := s.have[id]
	if !asked {
		_, have = l.try(s.place, "cat-file", "-e", id)
		s.have[id] = have
	}
	return have
}

// A fileVerdict is what the model or ken says about the summary of one file.
type fileVerdict struct {
	summary string // fresh, stale, none, unknown
	text    string
	from    string // the content that the text was written from
	format  bool   // fresh although the bytes differ
	rule    int    // of the model, by which it was found
	loose   bool   // rule 2 may be passed over, so that another text of the path is shown
}

// agrees reports whether ken's word on the summary is the model's.
func (v fileVerdict) agrees(summary, grade string) bool {
	if v.loose && summary == "stale" {
		return true
	}
	return summary == v.summary && (summary != "fresh" || v.format == (grade == "format"))
}

func (v fileVerdict) String() string {
	if v.summary == "none" {
		return "none"
	}
	format := ""
	if v.format {
		format = ", grade format"
	}
	return fmt.Sprintf("%s %q%s", v.summary, v.text, format)
}

// judge is the model: rules 1 to 4.
func (l *life) judge(s *sight, name string) fileVerdict {
	st := s.files[name]
	texts := l.stores[s.place].texts
	newest := func(match func(fileText) bool) *fileText {
		var best *fileText
		for i, t := range texts {
			if match(t) && (best == nil || t.order > best.order) {
				best = &texts[i]
			}
		}
		return best
	}
	// shared is what a text shows: identical contents share the newest text about them.
	shared := func(t *fileText) string {
		return newest(func(other fileText) bool { return other.id == t.id }).text
	}
	there := st.id != "" && st.kind != "missing"
	if t := newest(func(t fileText) bool { return there && t.id == st.id }); t != nil {
		return fileVerdict{summary: "fresh", text: t.text, from: t.id, rule: 1}
	}
	own := l.pathsOf(s, name)
	sameMeaning := newest(func(t fileText) bool {
		sameBytes := t.raw != "" && st.kind == "plain" && t.raw == md5Of(st.raw)
		known := l.has(s, t.id) || t.lacked
		return there && slices.Contains(own, t.path) && (sameBytes || st.meaning != "" && t.meaning == st.meaning && known)
	})
	if t := sameMeaning; t != nil {
		return fileVerdict{summary: "fresh", text: shared(t), from: t.id, format: true, rule: 2, loose: t.lacked}
	}
	stale := "stale"
	if st.kind == "sparse" && st.id == "" {
		stale = "unknown"
	}
	if t := newest(func(t fileText) bool { return slices.Contains(own, t.path) }); t != nil {
		return fileVerdict{summary: stale, text: shared(t), from: t.id, rule: 3}
	}
	return fileVerdict{summary: "none", rule: 4}
}

// pathsOf returns the path of a file and the paths that it had before, as far as texts were
// written there and no other file is there now.
func (l *life) pathsOf(s *sight, name string) []string {
	gone := func(at string) bool { _, tracked := s.files[at]; return !tracked }
	list := []string{name}
	if slices.ContainsFunc(l.stores[s.place].texts, func(t fileText) bool { return gone(t.path) }) {
		list = append(list, slices.DeleteFunc(l.renamedFrom(s, name), func(old string) bool { return !gone(old) })...)
	}
	return list
}

// renamedFrom returns the older paths of a file, the latest first.
func (l *life) renamedFrom(s *sight, name string) []string {
	var old []string
	at := name
	type rename struct{ from, to string }
	renames := func(args ...string) (found []rename) {
		out, ok := l.try(s.place, append(args, "-z", "-M50%", "--name-status", "--diff-filter=R", "--no-ext-diff")...)
		if !ok {
			return nil
		}
		f := strings.Split(out, "\x00")
		for i := 0; i+2 < len(f); i++ {
			if strings.HasPrefix(strings.TrimSpace(f[i]), "R") {
				found = append(found, rename{f[i+1], f[i+2]})
				i += 2
			}
		}
		return found
	}
	for _, r := range renames("diff", "--cached", "HEAD") {
		if r.to == name {
			old = append(old, r.from)
			at = r.from
		}
	}
	if out, ok := l.try(s.place, "log", "--follow", "-M50%", "--format=", "-z", "--name-status", "--diff-filter=RC", "HEAD", "--", at); ok {
		f := strings.Split(out, "\x00")
		for i := 0; i+2 < len(f); i++ {
			status := strings.TrimSpace(f[i])
			if strings.HasPrefix(status, "C") {
				break // a copy has no older path: the source is still there
			}
			if strings.HasPrefix(status, "R") {
				// Two files of one commit may compete for the old path. --follow sees one of them alone.
				if !slices.Contains(renames("log", "--format=", "HEAD"), rename{f[i+1], f[i+2]}) {
					break
				}
				old = append(old, f[i+1])
				i += 2
			}
		}
	}
	return old
}

// The parts of the documents of ken that the tests compare.
type (
	reportDoc struct {
		State    string `json:"state"`
		Baseline string `json:"last_verified_sha"`
		Verdicts []struct {
			Path    string  `json:"path"`
			Verdict string  `json:"verdict"`
			MD5     *string `json:"content_md5"`
			ID      *string `json:"content_id"`
			Summary string  `json:"summary"`
			Grade   string  `json:"grade"`
		} `json:"verdicts"`
	}
	knowledgeDoc struct {
		Path    string  `json:"path"`
		Text    string  `json:"text"`
		Verdict string  `json:"verdict"`
		Grade   string  `json:"grade"`
		From    *string `json:"content_id"`
		Current *string `json:"current_id"`
	}
)

// described reports whether lives write texts for such a path. Specs, attributes and the
// configuration of ken have rows and no texts.
func described(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.Contains(name, "/.")
}

// compareFiles compares the verdicts of ken on files with the model.
func (l *life) compareFiles(place string, how look) {
	s := l.observe(place)
	if l.dead || len(s.files) == 0 {
		return
	}
	var status reportDoc
	if !l.ken(place, &status, "status", "--all") {
		return
	}
	want := map[string]fileVerdict{}
	for name := range s.files {
		if described(name) {
			want[name] = l.judge(s, name)
		}
	}
	l.compareReport(s, "status --all", status, want)
	if how == lookStatus || l.failure != "" {
		return
	}
	var verify, full reportDoc
	if !l.ken(place, &verify, "verify", "--all") {
		return
	}
	l.compareReport(s, "verify --all", verify, want)
	names := slices.Sorted(maps.Keys(want))
	if len(names) > 0 {
		var shown []knowledgeDoc
		if len(names) == 1 {
			shown = make([]knowledgeDoc, 1)
			if !l.ken(place, &shown[0], "summary", "show", names[0]) {
				return
			}
		} else if !l.ken(place, &shown, append([]string{"summary", "show"}, names...)...) {
			return
		}
		l.compareShown(s, shown, want)
	}
	if l.failure != "" || !l.ken(place, &full, "verify", "--full", "--all") {
		return
	}
	l.compareReport(s, "verify --full --all", full, want)
	for _, v := range full.Verdicts {
		// The verify before it recorded everything.
		if v.Verdict == "mismatch" || v.Verdict == "new" {
			l.differs(place, "a second verify finds "+v.Path+" as the first left it", v.Verdict)
		}
	}
}

func (l *life) compareReport(s *sight, command string, r reportDoc, want map[string]fileVerdict) {
	seen := map[string]bool{}
	for _, v := range r.Verdicts {
		st, tracked := s.files[v.Path]
		if !tracked {
			if v.Verdict != "missing" {
				l.differs(s.place, command+": "+v.Path+" is not tracked", v.Verdict)
			}
			continue
		}
		seen[v.Path] = true
		l.compared++
		is := func(what string) string { return command + ": " + v.Path + " " + what }
		plain := v.Verdict == "match" || v.Verdict == "mismatch" || v.Verdict == "new"
		switch {
		case st.kind == "plain" && !plain, st.kind != "plain" && plain:
			l.differs(s.place, is("is "+st.kind), v.Verdict)
			continue
		case st.kind == "conflicted" || st.kind == "missing":
			if v.Verdict != st.kind {
				l.differs(s.place, is("is "+st.kind), v.Verdict)
			}
			if v.Summary == "fresh" {
				l.differs(s.place, is("is "+st.kind+" and not fresh"), v.Summary)
			}
			continue
		}
		if st.kind == "sparse" && v.ID == nil && (v.Summary == "unknown" || v.Summary == "none") {
			continue
		}
		if v.ID != nil && *v.ID != st.id || v.ID == nil && st.id != "" {
			l.differs(s.place, is("has the content "+st.id), deref(v.ID))
		}
		if st.kind == "plain" && v.MD5 != nil && *v.MD5 != md5Of(st.raw) {
			l.differs(s.place, is("has the md5 "+md5Of(st.raw)), *v.MD5)
		}
		w, judged := want[v.Path]
		if !judged {
			if v.Summary != "none" && v.Summary != "excluded" {
				l.differs(s.place, is("has no text"), v.Summary)
			}
			continue
		}
		if !w.agrees(v.Summary, v.Grade) {
			l.differs(s.place, is("is "+w.String()), v.Summary+", grade "+v.Grade)
		}
	}
	for name := range s.files {
		if !seen[name] {
			l.differs(s.place, command+": lists "+name, "nothing")
		}
	}
}

func (l *life) compareShown(s *sight, shown []knowledgeDoc, want map[string]fileVerdict) {
	for _, k := range shown {
		st, w := s.files[k.Path], want[k.Path]
		l.compared++
		is := "summary show: " + k.Path + " is "
		got := fileVerdict{summary: k.Verdict, text: k.Text, format: k.Grade == "format"}
		switch {
		case st.kind == "missing":
			if k.Verdict != "gone" {
				l.differs(s.place, is+"gone", got.String())
			}
		case st.kind == "conflicted":
			if k.Verdict == "fresh" {
				l.differs(s.place, is+"in conflict and not fresh", got.String())
			}
		case st.kind == "sparse" && (k.Verdict == "unknown" || k.Verdict == "none"):
		case !w.agrees(k.Verdict, k.Grade), w.text != k.Text && !w.loose:
			l.differs(s.place, is+w.String(), got.String()+", grade "+k.Grade)
		case w.summary != "none" && deref(k.From) != w.from && !w.format:
			l.differs(s.place, is+"written from "+w.from, deref(k.From))
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

// wroteFile tells the model about a summary that was written or confirmed.
func (l *life) wroteFile(o op, before *sight, out string) {
	type result struct {
		Path   string `json:"path"`
		Result string `json:"result"`
		Reason string `json:"reason"`
	}
	docs := documents[result](out)
	if lists := documents[[]result](out); len(lists) > 0 {
		docs = lists[0] // confirm answers with a list
	}
	got := result{Result: "nothing", Reason: out}
	if len(docs) > 0 {
		got = docs[0]
	}
	st, tracked := before.files[o.write.path]
	writable := tracked && st.kind == "plain"
	t := fileText{path: o.write.path, id: st.id, text: o.write.text, meaning: st.meaning, raw: md5Of(st.raw), order: l.clock}
	want := "stored"
	switch {
	case o.write.act == "confirm":
		shown := l.judge(before, o.write.path)
		t.text = shown.text
		if shown.summary == "none" {
			want = "rejected"
		}
		if shown.loose { // ken may have confirmed another text of the path
			var now knowledgeDoc
			if !l.ken(o.place, &now, "summary", "show", o.write.path) {
				return
			}
			t.text = now.Text
		}
	case o.write.read != "" && o.write.read != st.id && o.write.read != md5Of(st.raw):
		// The text is kept for the bytes that it names. ken refuses bytes that another
		// file has now and this one never had; which those are depends on what ken saw.
		want = "superseded"
		t.id = o.write.read
		t.raw = ""
		t.meaning = l.meaningOf(before, o.write.path, t.id)
		for name, other := range before.files {
			if name != o.write.path && other.id == t.id && got.Result == "rejected" {
				want = "rejected"
			}
		}
	}
	if !writable {
		if got.Result == "stored" {
			l.differs(o.place, "no text is kept for "+o.write.path+", which is not there", got.Result)
		}
		return
	}
	if got.Result != want {
		l.differs(o.place, o.name+" "+o.write.path+" is "+want, got.Result+" "+got.Reason)
		return
	}
	if want != "rejected" {
		own := l.stores[o.place]
		t.lacked = !l.has(before, t.id)
		own.texts = append(own.texts, t)
	}
}

// meaningOf returns the meaning of a content that git may have.
func (l *life) meaningOf(s *sight, name, id string) string {
	content, ok := l.try(s.place, "cat-file", "blob", id)
	if !ok {
		return ""
	}
	return meaning(name, content)
}

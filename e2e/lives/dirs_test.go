package lives

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// The model of directories, in plain words.
//
//   - The directories are those that hold tracked files, and those above them.
//   - A text about a directory is written from the contents of its own files and from the
//     texts of its children. The directory's own name is no part of that.
//   - A text holds (fresh) if the own files have the same names and contents, a difference of
//     format aside, and the children have the same names, are fresh and have the same texts.
//     The newest text that holds is shown, wherever it was written.
//   - Otherwise the newest text of this directory is shown: stale-self if the own files
//     differ, else stale-below.
//   - An agent that answers after something moved has written from what it was given.
//
// Decisions where the design leaves room:
//   - A file that is tracked and gone from the disk is gone from its directory, and a
//     directory without files is gone. ("Own files changed, added or gone.")
//   - A directory with a file in conflict is not judged, nor is what lies above it.
//   - Directories that ken leaves out by policy (.spec, .ken) are no children.
//   - Which text a directory without a text of its own shows after a rename is not judged
//     unless one holds.
//
// Outlines are compared with ken itself: a directory whose whole subtree is as it was when
// ken outlined it is fresh, if ken wrote its outline from exactly that or has outlined nothing
// else there since; an older outline from which the directory differs by format is not looked
// for, since a new one is free. A directory in which a signature came or went since every
// outline is not fresh, unless conflict marks keep its files from being parsed. And a fresh
// outline has the text that a ken without any memory writes.

// A dirText is a text about a directory, with what it was written from.
type dirText struct {
	path  string
	text  string
	files map[string]content
	kids  map[string]string // texts
	order int
}

// A content is a content id with its meaning.
type content struct{ id, meaning string }

// An outlineRun is the state of the tree when ken outlined it.
type outlineRun struct {
	subtree map[string]string // directory: its files and their contents
	shapes  map[string]string // directory: what an outline can tell apart of its own files
}

// A tree is the directories of a sight.
type tree struct {
	files  map[string]map[string]content // directory: names of its own files
	kids   map[string][]string           // directory: names
	broken map[string]bool               // not judged
}

// parentOf returns the directory of a path, "." for the root.
func parentOf(name string) string { return path.Dir(name) }

func (s *sight) tree(leftOut map[string]bool) tree {
	t := tree{map[string]map[string]content{".": {}}, map[string][]string{}, map[string]bool{}}
	for name, st := range s.files {
		if st.kind == "missing" {
			continue
		}
		dir := parentOf(name)
		for d := dir; ; d = parentOf(d) {
			if t.files[d] == nil {
				t.files[d] = map[string]content{}
			}
			if st.kind == "conflicted" || st.id == "" {
				t.broken[d] = true
			}
			if d == "." {
				break
			}
		}
		t.files[dir][path.Base(name)] = content{st.id, st.meaning}
	}
	for d := range t.files {
		if leftOut[d] {
			delete(t.files, d)
		}
	}
	for d := range t.files {
		if d != "." {
			t.kids[parentOf(d)] = append(t.kids[parentOf(d)], path.Base(d))
		}
	}
	return t
}

// A dirVerdict is what the model says about a directory.
type dirVerdict struct {
	verdict string
	text    string
}

// judgeDirs is the model: it judges every directory, children first.
func (l *life) judgeDirs(s *sight, t tree) map[string]dirVerdict {
	found := map[string]dirVerdict{}
	dirs := slices.Collect(maps.Keys(t.files))
	slices.SortFunc(dirs, func(a, b string) int { return depth(b) - depth(a) })
	for _, d := range dirs {
		found[d] = l.judgeDir(s, t, d, found)
	}
	return found
}

func depth(dir string) int {
	if dir == "." {
		return 0
	}
	return 1 + strings.Count(dir, "/")
}

func (l *life) judgeDir(s *sight, t tree, d string, found map[string]dirVerdict) dirVerdict {
	var holds, own *dirText
	texts := l.stores[s.place].dirs
	for i, r := range texts {
		same := maps.Equal(r.files, t.files[d])
		if r.path == d { // format counts at the same place alone, as for files
			same = sameFiles(r.files, t.files[d])
		}
		if same && sameKids(r, t, d, found) && (holds == nil || r.order > holds.order) {
			holds = &texts[i]
		}
		if r.path == d && (own == nil || r.order > own.order) {
			own = &texts[i]
		}
	}
	switch {
	case holds != nil:
		return dirVerdict{"fresh", holds.text}
	case own == nil:
		return dirVerdict{"none", ""}
	case sameFiles(own.files, t.files[d]):
		return dirVerdict{"stale-below", own.text}
	}
	return dirVerdict{"stale-self", own.text}
}

func sameFiles(was, now map[string]content) bool {
	if len(was) != len(now) {
		return false
	}
	for name, n := range now {
		w, ok := was[name]
		if !ok {
			return false
		}
		format := n.meaning != "" && n.meaning == w.meaning
		if w.id != n.id && !format {
			return false
		}
	}
	return true
}

func sameKids(r dirText, t tree, d string, found map[string]dirVerdict) bool {
	if len(r.kids) != len(t.kids[d]) {
		return false
	}
	for _, kid := range t.kids[d] {
		v := found[path.Join(d, kid)]
		text, ok := r.kids[kid]
		if !ok || v.verdict != "fresh" || v.text != text {
			return false
		}
	}
	return true
}

type surveyDoc struct {
	Directories []struct {
		Path    string  `json:"path"`
		Verdict string  `json:"verdict"`
		Text    *string `json:"text"`
		Outline bool    `json:"outline"`
	} `json:"directories"`
}

// compareDirs holds ken's verdicts on directories against the model.
func (l *life) compareDirs(place string) {
	var doc surveyDoc
	s := l.observe(place)
	if l.dead || len(s.files) == 0 || !l.ken(place, &doc, "survey", "show") {
		return
	}
	leftOut := map[string]bool{}
	for _, d := range doc.Directories {
		if d.Verdict == "excluded" {
			leftOut[d.Path] = true
		}
	}
	t := s.tree(leftOut)
	if l.kind == outlines {
		l.compareOutlines(s, t, doc)
		return
	}
	want := l.judgeDirs(s, t)
	listed := map[string]bool{}
	for _, d := range doc.Directories {
		listed[d.Path] = true
		w, judged := want[d.Path]
		if !judged || t.broken[d.Path] {
			continue
		}
		l.compared++
		text := ""
		if d.Text != nil {
			text = *d.Text
		}
		switch {
		case d.Verdict == w.verdict && (text == w.text || w.verdict == "none"):
		case w.verdict == "none" && d.Outline:
			// Where nobody wrote a text, ken shows an outline.
		case w.verdict == "none" && d.Verdict != "fresh":
			// A text came from another directory, which was renamed or holds the same.
		default:
			l.differs(place, fmt.Sprintf("survey show: %s is %s %q", d.Path, w.verdict, w.text), fmt.Sprintf("%s %q", d.Verdict, text))
		}
	}
	for d := range t.files {
		if !listed[d] && len(s.files) > 0 && d != "." {
			l.differs(place, "survey show lists "+d, "nothing")
		}
	}
}

// wroteDirs tells the model what agents have submitted.
func (l *life) wroteDirs(o op, before *sight, out string) {
	type result struct {
		Path   string `json:"path"`
		Result string `json:"result"`
		Reason string `json:"reason"`
	}
	leftOut := map[string]bool{}
	shown := map[string]string{}
	var doc surveyDoc
	if l.ken(o.place, &doc, "survey", "show") {
		for _, d := range doc.Directories {
			if d.Verdict == "excluded" {
				leftOut[d.Path] = true
			}
			if d.Text != nil {
				shown[d.Path] = *d.Text
			}
		}
	}
	t := before.tree(leftOut)
	own := l.stores[o.place]
	for i, r := range documents[result](out) {
		if r.Path == "" {
			continue
		}
		now := l.judgeDirs(before, t)
		text := fmt.Sprintf("%s of %s, %d", o.write.text, r.Path, i+1)
		if o.write.act == "keep" && i == 0 {
			text = now[r.Path].text
			if r.Result == "rejected" && text == "" {
				continue // there was nothing to keep
			}
			if text == "" {
				text = shown[r.Path] // the agent keeps ken's outline, which the model does not write itself
			}
		}
		wanted := r.Result == "stored" || o.write.act == "moved" && r.Result == "superseded"
		if !wanted {
			l.differs(o.place, "the text about "+r.Path+" is stored", r.Result+": "+r.Reason)
			return
		}
		kids := map[string]string{}
		for _, kid := range t.kids[r.Path] {
			v := now[path.Join(r.Path, kid)]
			if v.verdict != "fresh" && !t.broken[path.Join(r.Path, kid)] {
				l.differs(o.place, "an agent is asked about "+r.Path+" after its child "+kid+" is fresh", v.verdict)
			}
			kids[kid] = v.text
		}
		own.dirs = append(own.dirs, dirText{path: r.Path, text: text, files: maps.Clone(t.files[r.Path]), kids: kids, order: l.clock*100 + i})
	}
}

// ranOutline notes the state of the tree that ken has just outlined.
func (l *life) ranOutline(o op, before *sight, _ string) {
	own := l.stores[o.place]
	own.outline = append(own.outline, outlineRun{subtrees(before), shapes(before)})
}

// subtrees returns for every directory the names and contents of all files below it.
func subtrees(s *sight) map[string]string {
	all := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		if s.files[name].kind == "missing" {
			continue
		}
		for d := parentOf(name); ; d = parentOf(d) {
			all[d] += strings.TrimPrefix(name, d+"/") + " " + s.files[name].id + "\n"
			if d == "." {
				break
			}
		}
	}
	return all
}

// shapes returns for every directory its own files: signatures of what ken can parse, and the
// contents of the rest.
func shapes(s *sight) map[string]string {
	all := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(s.files)) {
		st := s.files[name]
		if st.kind == "missing" {
			continue
		}
		shape := st.id
		if st.meaning != "" {
			shape = interfaceOf(name, string(st.raw))
		}
		all[parentOf(name)] += path.Base(name) + "\n" + shape + "\n"
	}
	return all
}

// hasCurrentOutline reports whether ken must find an outline for a directory with this subtree: the last run saw
// the subtree, or a run wrote new outlines for all of it.
func hasCurrentOutline(runs []outlineRun, d string, now map[string]string) bool {
	for dir := range now {
		below := d == "." || dir == d || strings.HasPrefix(dir, d+"/")
		if below && !wroteOutline(runs, dir, now[dir]) {
			return false
		}
	}
	return true
}

func wroteOutline(runs []outlineRun, d, subtree string) bool {
	for i, r := range runs {
		if r.subtree[d] != subtree {
			continue
		}
		sameShape := func(other outlineRun) bool { return other.shapes[d] == r.shapes[d] }
		other := func(other outlineRun) bool { return other.subtree[d] != subtree }
		if !slices.ContainsFunc(runs[:i], sameShape) || !slices.ContainsFunc(runs[i:], other) {
			return true
		}
	}
	return false
}

func (l *life) compareOutlines(s *sight, t tree, doc surveyDoc) {
	runs := l.stores[s.place].outline
	whole := subtrees(s)
	justRan := len(l.ops) > 0 && l.ops[len(l.ops)-1].write.act == "outline"
	var scratch map[string]string
	if justRan {
		scratch = l.outlineFromScratch(s.place)
	}
	for _, d := range doc.Directories {
		if t.broken[d.Path] || d.Verdict == "excluded" {
			continue
		}
		l.compared++
		asThen := hasCurrentOutline(runs, d.Path, whole)
		is := "survey show: " + d.Path + " is "
		switch {
		case asThen && d.Verdict != "fresh":
			l.differs(s.place, is+"fresh, as all below it was when ken outlined it", d.Verdict)
		case d.Outline && d.Verdict == "stale":
			l.differs(s.place, is+"never stale: ken makes an outline again", d.Verdict)
		}
		if scratch != nil && d.Verdict == "fresh" && d.Text != nil && scratch[d.Path] != *d.Text {
			l.differs(s.place, is+"outlined as a ken without memory does: "+scratch[d.Path], *d.Text)
		}
	}
}

// outlineFromScratch outlines a copy of the work tree that knows nothing.
func (l *life) outlineFromScratch(place string) map[string]string {
	_, err := l.sh(l.dir, fmt.Sprintf("rm -rf copy && cp -a %s copy && rm -rf copy/.git/ken && cd copy && ken survey run --json", place))
	var doc surveyDoc
	if err != nil || !l.ken("copy", &doc, "survey", "show") {
		return nil
	}
	texts := map[string]string{}
	for _, d := range doc.Directories {
		if d.Text != nil {
			texts[d.Path] = *d.Text
		}
	}
	return texts
}

package survey

import (
	"path"
	"slices"
	"strings"

	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/describe"
)

// flags returns the flags of all directories whose files still have the content that the
// author saw. Two flags with the same finding about a file are one, with the higher severity.
//
// A flag does not depend on the verdict of its summary: another file of the directory may
// have changed.
func (ts *treeStatus) flags() []store.DirFlag {
	now := make(map[repo.Path]repo.ID, len(ts.files))
	for i := range ts.files {
		now[ts.files[i].Path] = ts.files[i].ID
	}
	list := []store.DirFlag{}
	for _, d := range ts.order {
		st := ts.status[d]
		if st.Record == nil {
			continue
		}
		for _, f := range flagsOf(st.Record) {
			f.Path = movedFlag(f.Path, st.Record.Path, d.Path)
			id, exists := now[f.Path]
			changed := !f.Content.IsZero() && !id.IsZero() && f.Content != id
			if !exists || changed {
				continue
			}
			same := slices.IndexFunc(list, func(g store.DirFlag) bool { return g.Path == f.Path && g.Finding == f.Finding })
			switch {
			case same < 0:
				list = append(list, f)
			case slices.Index(describe.Severities, f.Severity) > slices.Index(describe.Severities, list[same].Severity):
				list[same] = f
			}
		}
	}
	return list
}

// flagsOf returns the flags of a record. Flags of older records have no content id. For the
// directory's own files it is in the basis.
func flagsOf(r *store.DirRecord) []store.DirFlag {
	list := slices.Clone(r.Flags)
	for i := range list {
		f := &list[i]
		if !f.Content.IsZero() || f.Path.Dir() != r.Path {
			continue
		}
		for _, b := range r.Basis.Files {
			if string(b.Name) == f.Path.Base() {
				f.Content = b.ID
			}
		}
	}
	return list
}

// movedFlag returns the path of a flagged file after its directory was renamed. Files
// elsewhere keep their path.
func movedFlag(file, from, to repo.Path) repo.Path {
	if !file.Under(from) {
		return file
	}
	rest := strings.TrimPrefix(string(file), string(from))
	return repo.Path(strings.TrimPrefix(path.Join(string(to), rest), "/"))
}

package usage

import (
	"bytes"
	"slices"
	"sort"

	"ken/internal/outline"
	"ken/internal/repo"
	"ken/internal/searchindex"
)

// An Introduction is the commit that added a symbol.
type Introduction struct {
	Commit  repo.ID `json:"commit"`
	Subject string  `json:"subject"`
	Date    string  `json:"date"` // of the author, RFC 3339
}

const (
	maxOldPaths    = 8  // the maximum number of paths that a file had
	versionsAtOnce = 64 // versions of a file that are read at once
)

// introduced finds the commit that added a symbol, in the commits that touched its file. It supposes that the symbol
// stayed since then, so a few versions of the file are enough. It finds nothing if an older commit may have added it.
func (r *reader) introduced(p repo.Path, s *outline.Symbol) error {
	if r.tests {
		return nil
	}
	for range maxOldPaths {
		commits, versions, err := r.versions(p)
		if err != nil {
			return err
		}
		having, err := r.versionsWith(p, versions, s)
		if err != nil || len(commits) == 0 {
			return err
		}
		var added bool
		var old repo.Path
		for _, c := range neighbours(commits, having) {
			if added, old, err = r.adds(c.ID, p, s); err != nil {
				return err
			}
			if added {
				date, err := r.tree.AuthorDate(r.ctx, c.ID)
				r.answer.Introduced = &Introduction{c.ID, c.Subject, date}
				return err
			}
			if old != "" {
				break
			}
		}
		if old == "" {
			return nil
		}
		p = old
	}
	return nil
}

// neighbours returns the commits on both sides of a place in a list, with those of the same second: their order is not
// known.
func neighbours(commits []searchindex.Commit, at int) (list []searchindex.Commit) {
	newer := commits[max(0, at-1)].Date
	older := commits[min(at, len(commits)-1)].Date
	for _, c := range commits {
		if (c.Date == newer || c.Date == older) && len(list) < versionsAtOnce {
			list = append(list, c)
		}
	}
	return list
}

// versions returns the versions of a file, the newest first, and the commits that made them.
func (r *reader) versions(p repo.Path) (made []searchindex.Commit, versions []repo.ID, err error) {
	commits, err := r.index.LastCommits(r.ctx, p, NoLimit)
	if err != nil || len(commits) == 0 {
		return nil, nil, err
	}
	places := make([]repo.CommitPath, len(commits))
	for i, c := range commits {
		places[i] = repo.CommitPath{Commit: c.ID, Path: p}
	}
	ids, err := r.tree.ContentsAt(r.ctx, places)
	for i, id := range ids {
		if !id.IsZero() { // zero where the commit deleted it
			made = append(made, commits[i])
			versions = append(versions, id)
		}
	}
	return made, versions, err
}

// versionsWith returns how many of the newest versions of a file declare a symbol.
func (r *reader) versionsWith(p repo.Path, versions []repo.ID, s *outline.Symbol) (having int, err error) {
	for lacking := len(versions); having < lacking; {
		step := 1 + (lacking-having-1)/versionsAtOnce
		var at []int
		var ids []repo.ID
		for i := having; i < lacking; i += step {
			at = append(at, i)
			ids = append(ids, versions[i])
		}
		contents, err := r.tree.Blobs(r.ctx, ids)
		if err != nil {
			return 0, err
		}
		n := sort.Search(len(at), func(i int) bool { return !declares(p, contents[i], s) })
		if n < len(at) {
			lacking = at[n]
		}
		if n > 0 {
			having = at[n-1] + 1
		}
	}
	return having, nil
}

// adds reports whether a commit adds a symbol to a file. It does not if it moves the symbol with its file; then from is
// the old path.
func (r *reader) adds(commit repo.ID, p repo.Path, s *outline.Symbol) (added bool, from repo.Path, err error) {
	var changes []repo.Change
	err = r.tree.Commits(r.ctx, []repo.ID{commit}, func(c repo.Commit) error {
		changes = c.Changes
		return nil
	})
	at := slices.IndexFunc(changes, func(ch repo.Change) bool { return ch.Path == p })
	if err != nil || at < 0 {
		return false, "", err
	}
	ids := []repo.ID{changes[at].New}
	paths := []repo.Path{p}
	for _, ch := range changes {
		isMoved := changes[at].Old.IsZero() && ch.New.IsZero() && extensionFamily(ch.Path) == extensionFamily(p)
		if !ch.Old.IsZero() && (isMoved || ch.Path == p) {
			ids = append(ids, ch.Old)
			paths = append(paths, ch.Path)
		}
	}
	contents, err := r.tree.Blobs(r.ctx, ids)
	if err != nil || !declares(p, contents[0], s) {
		return false, "", err
	}
	for i, content := range contents[1:] {
		from := paths[1:][i]
		isThere := declares(p, content, s)
		if isThere && from != p {
			return false, from, nil
		}
		if isThere || content == nil {
			return false, "", nil
		}
	}
	return true, "", nil
}

// declares reports whether a version of a file declares a symbol.
func declares(p repo.Path, content []byte, s *outline.Symbol) bool {
	if !bytes.Contains(content, []byte(s.Name)) {
		return false
	}
	o, err := outline.Parse(p, content)
	return err == nil && slices.ContainsFunc(o.Symbols, func(was outline.Symbol) bool { return was.FullName() == s.FullName() })
}

package derive

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"ken/internal/repo"
)

// A mergeJudge finds out which files of merge commits git would merge in the same way by itself. Such a merge is
// neither a version nor drift, because no person edited it.
type mergeJudge struct {
	h       History
	g       *Graph
	c       Contents
	moves   *moveTracker
	known   map[commitPath]repo.MergeVerdict
	pending []commitPath
}

func newMergeJudge(h History, g *Graph, c Contents, moves *moveTracker) *mergeJudge {
	return &mergeJudge{h: h, g: g, c: c, moves: moves, known: make(map[commitPath]repo.MergeVerdict)}
}

// request adds a file of a commit to the next request. It ignores commits that are not merges.
func (j *mergeJudge) request(c repo.CommitNumber, path repo.Path) {
	at := commitPath{c, path}
	if _, asked := j.known[at]; asked || len(j.g.parentsOf(c)) < 2 {
		return
	}
	j.known[at] = repo.MergeVerdict{}
	j.pending = append(j.pending, at)
}

// fetch requests the verdicts on all requested files. A merge that git cannot repeat is unknown. fetch returns an error
// only if the context is done.
func (j *mergeJudge) fetch(ctx context.Context) error {
	if len(j.pending) == 0 {
		return nil
	}
	files := make([]repo.MergedFile, len(j.pending))
	for i, at := range j.pending {
		files[i] = repo.MergedFile{Commit: j.h.Commit(at.commit).ID, Path: at.path, From: j.moves.sources(at)}
		for _, p := range j.g.parentsOf(at.commit) {
			files[i].Parents = append(files[i].Parents, j.h.Commit(p).ID)
		}
	}
	found, err := j.c.Merged(ctx, files)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && len(found) != len(files) {
		err = fmt.Errorf("%d answers about %d merged files", len(found), len(files))
	}
	for i, at := range j.pending {
		if err != nil {
			j.known[at] = repo.MergeVerdict{Why: err.Error()}
			continue
		}
		j.known[at] = found[i]
	}
	j.pending = j.pending[:0]
	return nil
}

// byGit reports whether git made the content of a file by itself. why is the reason if that is unknown, ""
// otherwise.
func (j *mergeJudge) byGit(c repo.CommitNumber, path repo.Path) (is bool, why string) {
	if len(j.g.parentsOf(c)) < 2 {
		return false, ""
	}
	m := j.known[commitPath{c, path}]
	if m.By == repo.MergeUnknown {
		return false, cmp.Or(m.Why, "ken has not checked how this merge was made")
	}
	return m.By == repo.MergeByGit, ""
}

// judgeVersions removes merges that no person edited from the versions of specs: a
// parent has the same content, at the path that the spec has there, or git makes
// the same merge by itself. It lists merges that git cannot repeat separately.
func (d *derivation) judgeVersions(ctx context.Context) error {
	for _, s := range d.states {
		for _, v := range s.versions {
			d.merges.request(v.commit, v.path)
		}
	}
	if err := d.merges.fetch(ctx); err != nil {
		return err
	}
	for _, s := range d.states {
		s.versions = slices.DeleteFunc(s.versions, func(v version) bool {
			byGit, _ := d.merges.byGit(v.commit, v.path)
			return byGit
		})
		for _, v := range s.versions {
			for _, at := range d.sidesOf(v) {
				d.blobs.Request(v.commit, v.path)
				d.blobs.Request(at.commit, at.path)
			}
		}
	}
	if err := d.blobs.Fetch(ctx); err != nil {
		return err
	}
	for _, s := range d.states {
		s.versions = slices.DeleteFunc(s.versions, func(v version) bool {
			if d.tookSide(v) {
				return true
			}
			_, why := d.merges.byGit(v.commit, v.path)
			if why != "" {
				s.unsureVersions, s.unsureReason = append(s.unsureVersions, v.commit), why
			}
			return why != ""
		})
	}
	return nil
}

// sidesOf returns the paths of the node in the parents of a merge: its own path, for a change of the mode alone,
// and other paths.
func (d *derivation) sidesOf(v version) []commitPath {
	parents := d.g.parentsOf(v.commit)
	if len(parents) < 2 {
		return nil
	}
	list := slices.Clone(v.before)
	for _, p := range parents {
		list = append(list, commitPath{p, v.path})
	}
	return list
}

// tookSide reports whether a merge has the content of one of its parents.
func (d *derivation) tookSide(v version) bool {
	return d.blobs.Err == nil && slices.ContainsFunc(d.sidesOf(v), func(at commitPath) bool {
		return d.blobs.At(at.commit, at.path) == d.blobs.At(v.commit, v.path)
	})
}

// judgeTouches removes the merges that no person edited from the touched files of some nodes, and counts the other
// commits.
func (d *derivation) judgeTouches(ctx context.Context, some []*nodeState) error {
	var merged []*nodeState
	for _, s := range some {
		s.unsureMerge = ""
		found := false
		for _, b := range s.touchedFiles {
			for _, t := range b.touches {
				if len(d.g.parentsOf(t.Commit)) > 1 {
					d.merges.request(t.Commit, b.file.path)
					found = true
				}
			}
		}
		if found {
			merged = append(merged, s)
		}
	}
	if err := d.merges.fetch(ctx); err != nil {
		return err
	}
	for _, s := range merged {
		commits := make(map[repo.CommitNumber]bool)
		var left []touchedFile
		for _, b := range s.touchedFiles {
			var touches []repo.Touch
			for _, t := range b.touches {
				byGit, why := d.merges.byGit(t.Commit, b.file.path)
				if byGit {
					continue
				}
				if why != "" {
					s.unsureMerge = why
				}
				touches = append(touches, t)
				commits[t.Commit] = true
			}
			if touches != nil {
				left = append(left, touchedFile{b.file, touches})
			}
		}
		s.touchedFiles, s.touched = left, len(commits)
	}
	return nil
}

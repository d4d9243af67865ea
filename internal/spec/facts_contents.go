package spec

import (
	"context"
	"fmt"

	"ken/internal/repo"
)

// A blobBatch collects questions about contents, so that they are asked together and
// each of them once.
type blobBatch struct {
	h       History
	c       Contents
	known   map[spot]repo.ID
	pending []spot
	files   map[repo.Path]*file // whose history is known
	err     error               // the first; nothing is asked after it
}

// A spot is a path in a commit.
type spot struct {
	commit repo.CommitNumber
	path   repo.Path
}

func newSheet(h History, c Contents) *blobBatch {
	return &blobBatch{h: h, c: c, known: make(map[spot]repo.ID)}
}

// want notes a question. That a file is not there before any commit touched it is
// known, and to ask for what is not there costs most.
func (s *blobBatch) want(commit repo.CommitNumber, path repo.Path) {
	at := spot{commit, path}
	if _, asked := s.known[at]; asked {
		return
	}
	s.known[at] = repo.ID{}
	if f := s.files[path]; f == nil || len(f.touches) == 0 || f.touches[0].Commit <= commit {
		s.pending = append(s.pending, at)
	}
}

// ask asks what is wanted and has not been asked. A failure is kept in err, so that
// whoever needs the answers can say so; that of a context that is done is returned.
func (s *blobBatch) ask(ctx context.Context) error {
	if len(s.pending) == 0 || s.err != nil {
		return nil
	}
	places := make([]repo.CommitPath, len(s.pending))
	ids := make(map[repo.CommitNumber]repo.ID)
	for i, at := range s.pending {
		id, ok := ids[at.commit]
		if !ok {
			id = s.h.Commit(at.commit).ID
			ids[at.commit] = id
		}
		places[i] = repo.CommitPath{Commit: id, Path: at.path}
	}
	found, err := s.c.At(ctx, places)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		s.err = err
	case len(found) != len(places):
		s.err = fmt.Errorf("%d answers about %d contents", len(found), len(places))
	default:
		for i, at := range s.pending {
			s.known[at] = found[i]
		}
	}
	s.pending = s.pending[:0]
	return nil
}

// at returns the answer to a question that was asked, zero where there is nothing.
func (s *blobBatch) at(commit repo.CommitNumber, path repo.Path) repo.ID {
	return s.known[spot{commit, path}]
}

// knows reports whether a question was asked and answered.
func (s *blobBatch) knows(commit repo.CommitNumber, path repo.Path) bool {
	_, asked := s.known[spot{commit, path}]
	return asked && s.err == nil
}

package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/share"
	"ken/internal/survey"
)

var _ share.Store = (*Store)(nil)

// A place is how far somebody has come in a table of records: a number, and the record that
// has it. A base that was put back to an earlier day gives the number to another record, or
// to none; one of another repository or database has never given it to this one.
type place struct {
	seq int64
	id  [8]byte // what the record's name begins with
}

func (p place) String() string {
	if p.seq == 0 {
		return "0"
	}
	return fmt.Sprintf("%d:%x", p.seq, p.id)
}

// parsePlace reads what String writes, the beginning for anything else.
func parsePlace(s string) (p place) {
	var id string
	if _, err := fmt.Sscanf(s, "%d:%s", &p.seq, &id); err != nil || p.seq <= 0 || len(id) != hex.EncodedLen(len(p.id)) {
		return place{}
	}
	if _, err := hex.Decode(p.id[:], []byte(id)); err != nil {
		return place{}
	}
	return p
}

// places are those of files and of directories.
type places [2]place

func (p places) mark() share.Mark { return share.Mark(p[0].String() + " " + p[1].String()) }

// The records that have a number, and the last ones.
var (
	numbered = [2]string{
		`SELECT seq, substr(id, 1, 8) FROM ken.record WHERE repository = $1 AND seq = $2`,
		`SELECT seq, substr(id, 1, 8) FROM ken.directory_record WHERE repository = $1 AND seq = $2`,
	}
	last = [2]string{
		`SELECT seq, substr(id, 1, 8) FROM ken.record WHERE repository = $1 ORDER BY seq DESC LIMIT 1`,
		`SELECT seq, substr(id, 1, 8) FROM ken.directory_record WHERE repository = $1 ORDER BY seq DESC LIMIT 1`,
	}
)

// placeBy returns the place that a query names, the beginning for none.
func (s *Store) placeBy(ctx context.Context, tx pgx.Tx, query string, args ...any) (p place, err error) {
	var id []byte
	err = tx.QueryRow(ctx, query, append([]any{s.repository}, args...)...).Scan(&p.seq, &id)
	if errors.Is(err, pgx.ErrNoRows) {
		return place{}, nil
	}
	copy(p.id[:], id)
	return p, err
}

// places reads a mark. One that does not fit this base is the beginning, of both tables: who
// has lost his place in one cannot be sure of the other.
func (s *Store) places(ctx context.Context, tx pgx.Tx, mark share.Mark) (places, error) {
	files, directories, _ := strings.Cut(string(mark), " ")
	at := places{parsePlace(files), parsePlace(directories)}
	for i, p := range at {
		if p.seq == 0 {
			continue
		}
		now, err := s.placeBy(ctx, tx, numbered[i], p.seq)
		if now != p || err != nil {
			return places{}, err
		}
	}
	return at, nil
}

func (s *Store) end(ctx context.Context, tx pgx.Tx) (at places, err error) {
	for i := range at {
		if at[i], err = s.placeBy(ctx, tx, last[i]); err != nil {
			return at, err
		}
	}
	return at, nil
}

// Since implements [share.Store].
func (s *Store) Since(ctx context.Context, mark share.Mark, most int) (list []share.Record, next share.Mark, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		at, err := s.places(ctx, tx, mark)
		if err != nil {
			return err
		}
		if err := s.filesSince(ctx, tx, &at[0], most, &list); err != nil {
			return err
		}
		if len(list) < most {
			err = s.directoriesSince(ctx, tx, &at[1], most-len(list), &list)
		}
		next = at.mark()
		return err
	})
	if err != nil {
		return nil, mark, err
	}
	return list, next, nil
}

func (s *Store) filesSince(ctx context.Context, tx pgx.Tx, at *place, most int, list *[]share.Record) error {
	rows, err := tx.Query(ctx, `
		SELECT seq, substr(id, 1, 8), content_id, content_md5, text, author, recipe, at, assumed, confirmer, path
		FROM ken.record WHERE repository = $1 AND seq > $2 ORDER BY seq LIMIT $3`, s.repository, at.seq, most)
	var id []byte
	var r recordRow
	return scanAll(rows, err, func() error {
		rec := r.record()
		*list = append(*list, share.Record{File: &rec})
		copy(at.id[:], id)
		return nil
	}, append([]any{&at.seq, &id}, r.columns()...)...)
}

// directoriesSince passes over outlines that another one has followed.
func (s *Store) directoriesSince(ctx context.Context, tx pgx.Tx, at *place, most int, list *[]share.Record) error {
	rows, err := tx.Query(ctx, `
		SELECT r.seq, substr(r.id, 1, 8), r.path, r.at, r.partial, r.author, r.recipe, r.confirmer, r.flags, r.basis, r.text
		FROM ken.directory_record r
		WHERE r.repository = $1 AND r.seq > $2 AND (
			NOT r.outlined
			OR r.seq = (SELECT l.seq FROM ken.directory_latest l WHERE l.repository = $1 AND l.path = r.path AND l.outlined)
		)
		ORDER BY r.seq LIMIT $3`, s.repository, at.seq, most)
	var id []byte
	var r directoryRow
	return scanAll(rows, err, func() error {
		rec, err := r.record()
		*list = append(*list, share.Record{Directory: rec})
		copy(at.id[:], id)
		return err
	}, append([]any{&at.seq, &id}, r.columns()...)...)
}

// Absorb implements [share.Store].
func (s *Store) Absorb(ctx context.Context, list []share.Record) error {
	_, err := s.AbsorbAt(ctx, "", list)
	return err
}

// AbsorbAt is Absorb for somebody who has seen everything up to a mark. If that is all there
// was, the mark that comes back is behind what was added, so that nobody is sent his own
// words; else it is the one that was given.
func (s *Store) AbsorbAt(ctx context.Context, mark share.Mark, list []share.Record) (share.Mark, error) {
	if len(list) == 0 {
		return mark, ctx.Err()
	}
	var files []fresh.Record
	var directories []*survey.Record
	for _, r := range list {
		if r.File != nil {
			files = append(files, *r.File)
		} else {
			directories = append(directories, r.Directory)
		}
	}
	next := mark
	err := s.write(ctx, "write", func(tx pgx.Tx) error {
		// From here on nobody else adds anything.
		seq, err := s.draw(ctx, tx, len(list))
		if err != nil {
			return err
		}
		seen, err := s.places(ctx, tx, mark)
		if err != nil {
			return err
		}
		before, err := s.end(ctx, tx)
		if err != nil {
			return err
		}
		number := func() int64 { seq++; return seq }
		if err := s.insertRecords(ctx, tx, files, number); err != nil {
			return err
		}
		if err := s.insertDirectories(ctx, tx, directories, number); err != nil {
			return err
		}
		if seen != before {
			return nil
		}
		after, err := s.end(ctx, tx)
		next = after.mark()
		return err
	})
	if err != nil {
		return mark, err
	}
	return next, nil
}

// Knows reports whether a mark is one of this base. One that is not was made by another base,
// or by this one before it was put back to an earlier day: who holds it cannot be sure that
// what he has written is still there.
func (s *Store) Knows(ctx context.Context, mark share.Mark) (ok bool, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		at, err := s.places(ctx, tx, mark)
		ok = err == nil && at.mark() == mark
		return err
	})
	return ok && err == nil, err
}

// Count returns how many records there are.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT (SELECT count(*) FROM ken.record WHERE repository = $1) + (SELECT count(*) FROM ken.directory_record WHERE repository = $1)`,
			s.repository).Scan(&n)
	})
	return n, err
}

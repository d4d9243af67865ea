package postgres

import (
	"bytes"
	"context"
	"encoding/hex"
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

// parsePlaces reads a mark.
func parsePlaces(mark share.Mark) places {
	files, directories, _ := strings.Cut(string(mark), " ")
	return places{parsePlace(files), parsePlace(directories)}
}

// Stand says how somebody stands who has a mark: whether it is one of this base, and whether
// anything may have come since. A mark that is not was made by another base, or by this one before
// it was put back to an earlier day: who holds it cannot be sure that what he has written is
// still there.
func (s *Store) Stand(ctx context.Context, mark share.Mark) (known, news bool, err error) {
	pool, err := s.Pool(ctx)
	if err != nil {
		return false, false, err
	}
	at := parsePlaces(mark)
	now, last, err := s.fit(ctx, pool, at)
	if err != nil {
		return false, false, s.explain("read", err)
	}
	known = now == at && at.mark() == mark
	return known, !known || last > max(at[0].seq, at[1].seq), nil
}

// fit returns those of places that are of this base, the beginning for others, and the last
// number that was given. It is one question, since who asks may be far away.
func (s *Store) fit(ctx context.Context, q querier, at places) (now places, last int64, err error) {
	var ids [2][]byte
	err = q.QueryRow(ctx, `
		SELECT
			p.seq,
			(SELECT substr(id, 1, 8) FROM ken.record WHERE repository = p.id AND seq = $2),
			(SELECT substr(id, 1, 8) FROM ken.directory_record WHERE repository = p.id AND seq = $3)
		FROM ken.repository p WHERE p.id = $1`, s.repository, at[0].seq, at[1].seq).Scan(&last, &ids[0], &ids[1])
	for i, id := range ids {
		if at[i].seq > 0 && bytes.Equal(id, at[i].id[:]) {
			now[i] = at[i]
		}
	}
	return now, last, err
}

// places reads a mark. One that does not fit this base is the beginning, of both tables: who
// has lost his place in one cannot be sure of the other.
func (s *Store) places(ctx context.Context, tx pgx.Tx, mark share.Mark) (places, error) {
	at := parsePlaces(mark)
	now, _, err := s.fit(ctx, tx, at)
	if now != at || err != nil {
		return places{}, err
	}
	return at, nil
}

// end returns the places behind everything.
func (s *Store) end(ctx context.Context, tx pgx.Tx) (at places, err error) {
	var seqs [2]*int64
	var ids [2][]byte
	err = tx.QueryRow(ctx, `
		SELECT f.seq, substr(f.id, 1, 8), d.seq, substr(d.id, 1, 8)
		FROM (VALUES (1)) AS one
		LEFT JOIN LATERAL (SELECT seq, id FROM ken.record WHERE repository = $1 ORDER BY seq DESC LIMIT 1) f ON true
		LEFT JOIN LATERAL (SELECT seq, id FROM ken.directory_record WHERE repository = $1 ORDER BY seq DESC LIMIT 1) d ON true`,
		s.repository).Scan(&seqs[0], &ids[0], &seqs[1], &ids[1])
	for i, seq := range seqs {
		if seq != nil {
			at[i].seq = *seq
			copy(at[i].id[:], ids[i])
		}
	}
	return at, err
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

// Count returns how many records there are.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `
			SELECT (SELECT count(*) FROM ken.record WHERE repository = $1) + (SELECT count(*) FROM ken.directory_record WHERE repository = $1)`,
			s.repository).Scan(&n)
	})
	return n, err
}

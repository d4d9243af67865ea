package postgres

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

var _ store.Records = (*Store)(nil)

// A position identifies a record: its sequence number and the start of its id. After a restore from a backup, and in
// another repository or database, the number belongs to another record or to none.
type position struct {
	seq int64
	id  [8]byte // the start of the record's id
}

func (p position) mark() store.Mark {
	if p.seq == 0 {
		return "0"
	}
	return store.Mark(fmt.Sprintf("%d:%x", p.seq, p.id))
}

// parsePosition parses the result of mark. It returns the start of the log for anything else.
func parsePosition(mark store.Mark) (p position) {
	var id string
	if _, err := fmt.Sscanf(string(mark), "%d:%s", &p.seq, &id); err != nil || p.seq <= 0 || len(id) != hex.EncodedLen(len(p.id)) {
		return position{}
	}
	if _, err := hex.Decode(p.id[:], []byte(id)); err != nil {
		return position{}
	}
	return p
}

// CheckMarks reports whether two marks belong to this database, and whether it may have new records since. seen is the
// mark up to which a clone has read, given the mark up to which it has sent its records; "" means none. A mark
// that does not belong here comes from another database, or from this one before it was restored: the clone must
// then send its records again.
func (s *Store) CheckMarks(ctx context.Context, seen, given store.Mark) (known, news bool, err error) {
	pool, err := s.Pool(ctx)
	if err != nil {
		return false, false, err
	}
	known = true
	var at []position
	for _, mark := range []store.Mark{seen, given} {
		p := parsePosition(mark)
		known = known && (mark == "" || p.mark() == mark)
		at = append(at, p)
	}
	now, last, err := s.validate(ctx, pool, at)
	if err != nil {
		return false, false, s.explain("read", err)
	}
	known = known && slices.Equal(now, at)
	return known, !known || last > at[0].seq, nil
}

// validate returns the positions, with the start of the log for each that does not exist in this database, and the
// last sequence number. It needs one query, because the server may be distant.
func (s *Store) validate(ctx context.Context, q querier, at []position) (now []position, last int64, err error) {
	var seqs []int64
	for _, p := range at {
		seqs = append(seqs, p.seq)
	}
	var ids [][]byte
	err = q.QueryRow(ctx, `
		SELECT coalesce((SELECT max(seq) FROM ken.record WHERE repository = $1), 0), ARRAY (
			SELECT substr(r.id, 1, 8) FROM unnest($2::bigint[]) WITH ORDINALITY AS w (seq, n)
			LEFT JOIN ken.record r ON r.repository = $1 AND r.seq = w.seq ORDER BY w.n)`, s.repository, seqs).Scan(&last, &ids)
	if err != nil {
		return nil, 0, err
	}
	now = make([]position, len(at))
	for n, p := range at {
		var id [8]byte
		copy(id[:], ids[n]) // shorter in a bad record
		if ids[n] != nil && id == p.id {
			now[n] = p
		}
	}
	return now, last, nil
}

// position parses a mark. It returns the start of the log for a mark that does not exist in this database.
func (s *Store) position(ctx context.Context, tx pgx.Tx, mark store.Mark) (position, error) {
	now, _, err := s.validate(ctx, tx, []position{parsePosition(mark)})
	if err != nil {
		return position{}, err
	}
	return now[0], nil
}

// end returns the position of the last record.
func (s *Store) end(ctx context.Context, tx pgx.Tx) (at position, err error) {
	var id []byte
	err = tx.QueryRow(ctx, `SELECT seq, substr(id, 1, 8) FROM ken.record WHERE repository = $1 ORDER BY seq DESC LIMIT 1`,
		s.repository).Scan(&at.seq, &id)
	if errors.Is(err, pgx.ErrNoRows) {
		return position{}, nil
	}
	copy(at.id[:], id)
	return at, err
}

// A RecordBatch has the records after a mark.
type RecordBatch struct {
	Records []store.Record
	// Bad lists bad records, which cannot be read or do not match their id. Next is also after them.
	Bad  []store.BadRecord
	Next store.Mark
}

// Since implements [store.Records]. It skips bad records.
func (s *Store) Since(ctx context.Context, mark store.Mark, most int) (list []store.Record, next store.Mark, err error) {
	for {
		d, err := s.ReadSince(ctx, mark, most)
		if err != nil || len(d.Records) > 0 || len(d.Bad) == 0 {
			return d.Records, d.Next, err
		}
		mark = d.Next
	}
}

// ReadSince is Since with a list of the bad records. The end is reached if it returns neither good nor bad records.
func (s *Store) ReadSince(ctx context.Context, mark store.Mark, most int) (d RecordBatch, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		at, err := s.position(ctx, tx, mark)
		if err != nil {
			return err
		}
		rows, err := tx.Query(ctx, `
			SELECT `+columns+` FROM ken.record r
			WHERE r.repository = $1 AND r.seq > $2 AND `+shareable+`
			ORDER BY r.seq LIMIT $3`, s.repository, at.seq, most)
		var r row
		err = scanAll(rows, err, func() error {
			at = position{seq: r.seq}
			copy(at.id[:], r.id)
			rec, err := r.record(s.latest())
			if err != nil {
				path := repo.DirLabel(repo.Path(r.path)).JSON()
				bad := store.BadRecord{PathJSON: path, Reason: err.Error()}
				if errors.Is(err, fresh.ErrFutureDate) {
					bad.Due = r.at.Time.UTC().Add(-fresh.MaxClockSkew)
				}
				d.Bad = append(d.Bad, bad)
				return nil
			}
			d.Records = append(d.Records, rec)
			return nil
		}, r.into()...)
		d.Next = at.mark()
		return err
	})
	if err != nil {
		return RecordBatch{Next: mark}, err
	}
	return d, nil
}

// shareable selects the records that are sent: all but outlines that are not the latest of their directory.
const shareable = `(NOT r.outlined OR ` + isLatest + `)`

// CountSince returns the number of records after a mark.
func (s *Store) CountSince(ctx context.Context, mark store.Mark) (n int, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		at, err := s.position(ctx, tx, mark)
		if err != nil {
			return err
		}
		return tx.QueryRow(ctx, `SELECT count(*) FROM ken.record r WHERE r.repository = $1 AND r.seq > $2 AND `+shareable,
			s.repository, at.seq).Scan(&n)
	})
	return n, err
}

// AddRecords implements [store.Records].
func (s *Store) AddRecords(ctx context.Context, list []store.Record) error {
	_, _, err := s.AddRecordsAt(ctx, "", list)
	return err
}

// AddRecordsAt is AddRecords for a clone that has read everything up to mark. If nothing else was added since, seen is
// after the new records, so that the clone does not read its own records again; otherwise seen is mark. end is
// after the last record, "" if list is empty.
func (s *Store) AddRecordsAt(ctx context.Context, mark store.Mark, list []store.Record) (seen, end store.Mark, err error) {
	if len(list) == 0 {
		return mark, "", ctx.Err()
	}
	inFuture := func(r store.Record) bool { return r.At().After(s.latest()) }
	list = slices.DeleteFunc(slices.Clone(list), inFuture)
	seen = mark
	err = s.write(ctx, "write", func(tx pgx.Tx) error {
		if err := s.lock(ctx, tx); err != nil {
			return err
		}
		at, err := s.position(ctx, tx, mark)
		if err != nil {
			return err
		}
		before, err := s.end(ctx, tx)
		if err != nil {
			return err
		}
		if err := s.add(ctx, tx, list); err != nil {
			return err
		}
		after, err := s.end(ctx, tx)
		end = after.mark()
		if at == before {
			seen = end
		}
		return err
	})
	if err != nil {
		return mark, "", err
	}
	return seen, end, nil
}

// Count returns the number of records.
func (s *Store) Count(ctx context.Context) (n int, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		return tx.QueryRow(ctx, `SELECT count(*) FROM ken.record WHERE repository = $1`, s.repository).Scan(&n)
	})
	return n, err
}

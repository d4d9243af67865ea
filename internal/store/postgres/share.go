package postgres

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

var _ store.Records = (*Store)(nil)

// A position identifies a record in a table of records: its sequence number and the start of its id. After a restore
// from a backup, and in another repository or database, the number belongs to another record or to none.
type position struct {
	seq int64
	id  [8]byte // the start of the record's id
}

func (p position) String() string {
	if p.seq == 0 {
		return "0"
	}
	return fmt.Sprintf("%d:%x", p.seq, p.id)
}

// parsePosition parses the result of String. It returns the start of the table for anything else.
func parsePosition(s string) (p position) {
	var id string
	if _, err := fmt.Sscanf(s, "%d:%s", &p.seq, &id); err != nil || p.seq <= 0 || len(id) != hex.EncodedLen(len(p.id)) {
		return position{}
	}
	if _, err := hex.Decode(p.id[:], []byte(id)); err != nil {
		return position{}
	}
	return p
}

// positions has the position in the table of file records and in the table of directory records.
type positions [2]position

func (p positions) mark() store.Mark { return store.Mark(p[0].String() + " " + p[1].String()) }

// parsePositions parses a mark.
func parsePositions(mark store.Mark) positions {
	files, directories, _ := strings.Cut(string(mark), " ")
	return positions{parsePosition(files), parsePosition(directories)}
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
	var at []positions
	for _, mark := range []store.Mark{seen, given} {
		p := parsePositions(mark)
		known = known && (mark == "" || p.mark() == mark)
		at = append(at, p)
	}
	now, last, err := s.validate(ctx, pool, at)
	if err != nil {
		return false, false, s.explain("read", err)
	}
	known = known && slices.Equal(now, at)
	return known, !known || last > max(at[0][0].seq, at[0][1].seq), nil
}

// validate returns the positions, with the start of the table for each that does not exist in this database, and the
// last sequence number. It needs one query, because the server may be distant.
func (s *Store) validate(ctx context.Context, q querier, at []positions) (now []positions, last int64, err error) {
	var seqs [2][]int64
	for _, p := range at {
		seqs[0], seqs[1] = append(seqs[0], p[0].seq), append(seqs[1], p[1].seq)
	}
	var ids [2][][]byte
	err = q.QueryRow(ctx, `
		SELECT
			p.seq,
			ARRAY (SELECT substr(r.id, 1, 8) FROM unnest($2::bigint[]) WITH ORDINALITY AS w (seq, n)
				LEFT JOIN ken.record r ON r.repository = p.id AND r.seq = w.seq ORDER BY w.n),
			ARRAY (SELECT substr(r.id, 1, 8) FROM unnest($3::bigint[]) WITH ORDINALITY AS w (seq, n)
				LEFT JOIN ken.directory_record r ON r.repository = p.id AND r.seq = w.seq ORDER BY w.n)
		FROM ken.repository p WHERE p.id = $1`, s.repository, seqs[0], seqs[1]).Scan(&last, &ids[0], &ids[1])
	if err != nil {
		return nil, 0, err
	}
	now = make([]positions, len(at))
	for n, p := range at {
		for i := range p {
			if p[i].seq > 0 && bytes.Equal(ids[i][n], p[i].id[:]) {
				now[n][i] = p[i]
			}
		}
	}
	return now, last, nil
}

// positions parses a mark. If one of its positions does not exist in this database, it returns the start of both
// tables.
func (s *Store) positions(ctx context.Context, tx pgx.Tx, mark store.Mark) (positions, error) {
	at := parsePositions(mark)
	now, _, err := s.validate(ctx, tx, []positions{at})
	if err != nil || now[0] != at {
		return positions{}, err
	}
	return at, nil
}

// end returns the positions of the last records.
func (s *Store) end(ctx context.Context, tx pgx.Tx) (at positions, err error) {
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
		at, err := s.positions(ctx, tx, mark)
		if err != nil {
			return err
		}
		if err := s.filesSince(ctx, tx, &at[0], most, &d); err != nil {
			return err
		}
		if n := len(d.Records) + len(d.Bad); n < most {
			err = s.directoriesSince(ctx, tx, &at[1], most-n, &d)
		}
		d.Next = at.mark()
		return err
	})
	if err != nil {
		return RecordBatch{Next: mark}, err
	}
	return d, nil
}

// addBad adds a bad record.
func (d *RecordBatch) addBad(path []byte, err error) {
	d.Bad = append(d.Bad, store.BadRecord{PathJSON: repo.DirLabel(repo.Path(path)).JSON(), Reason: err.Error()})
}

func (s *Store) filesSince(ctx context.Context, tx pgx.Tx, at *position, most int, d *RecordBatch) error {
	rows, err := tx.Query(ctx, `
		SELECT seq, id, `+fileColumns+`
		FROM ken.record WHERE repository = $1 AND seq > $2 ORDER BY seq LIMIT $3`, s.repository, at.seq, most)
	var id []byte
	var r fileRow
	return scanAll(rows, err, func() error {
		copy(at.id[:], id)
		rec, ok := r.record()
		switch {
		case ok:
		case rec.At.After(latest()):
			d.addBad(r.path, fresh.ErrFutureDate)
			return nil
		default:
			d.addBad(r.path, fresh.ErrDamaged)
			return nil
		}
		d.Records = append(d.Records, store.Record{File: &rec})
		return nil
	}, append([]any{&at.seq, &id}, r.columns()...)...)
}

// shareable selects the directory records that are sent: all but outlines that are not the latest of their
// directory.
const shareable = `(NOT r.outlined OR ` + isLatest + `)`

func (s *Store) directoriesSince(ctx context.Context, tx pgx.Tx, at *position, most int, d *RecordBatch) error {
	rows, err := tx.Query(ctx, `
		SELECT r.seq, r.id, `+directoryColumns+`
		FROM ken.directory_record r
		WHERE r.repository = $1 AND r.seq > $2 AND `+shareable+`
		ORDER BY r.seq LIMIT $3`, s.repository, at.seq, most)
	var id []byte
	var r directoryRow
	return scanAll(rows, err, func() error {
		copy(at.id[:], id)
		rec, err := r.record()
		if err != nil {
			d.addBad(r.path, err)
			return nil
		}
		d.Records = append(d.Records, store.Record{Directory: rec})
		return nil
	}, append([]any{&at.seq, &id}, r.columns()...)...)
}

// CountSince returns the number of records after a mark.
func (s *Store) CountSince(ctx context.Context, mark store.Mark) (n int, err error) {
	err = s.read(ctx, "read", func(tx pgx.Tx) error {
		at, err := s.positions(ctx, tx, mark)
		if err != nil {
			return err
		}
		return tx.QueryRow(ctx, `
			SELECT
				(SELECT count(*) FROM ken.record r WHERE r.repository = $1 AND r.seq > $2) +
				(SELECT count(*) FROM ken.directory_record r WHERE r.repository = $1 AND r.seq > $3 AND `+shareable+`)`,
			s.repository, at[0].seq, at[1].seq).Scan(&n)
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
	var files []fresh.Record
	var directories []*store.DirRecord
	for _, r := range list {
		if r.At().After(latest()) {
			continue
		}
		if r.File != nil {
			files = append(files, *r.File)
		} else {
			directories = append(directories, r.Directory)
		}
	}
	seen = mark
	err = s.write(ctx, "write", func(tx pgx.Tx) error {
		if _, err := s.reserve(ctx, tx, 0); err != nil { // locks the repository
			return err
		}
		at, err := s.positions(ctx, tx, mark)
		if err != nil {
			return err
		}
		before, err := s.end(ctx, tx)
		if err != nil {
			return err
		}
		if err := s.add(ctx, tx, files, directories); err != nil {
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
		return tx.QueryRow(ctx, `
			SELECT (SELECT count(*) FROM ken.record WHERE repository = $1) + (SELECT count(*) FROM ken.directory_record WHERE repository = $1)`,
			s.repository).Scan(&n)
	})
	return n, err
}

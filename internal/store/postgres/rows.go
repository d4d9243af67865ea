package postgres

import (
	"context"
	"iter"

	"github.com/jackc/pgx/v5"

	"ken/internal/repo"
	"ken/internal/store"
)

// Rows implements [store.Files]. It reads all rows when the loop begins, so later commits do not change them, and
// the loop may use the store.
func (s *Store) Rows(ctx context.Context, worktree string) iter.Seq2[store.FileRow, error] {
	return func(yield func(store.FileRow, error) bool) {
		var rows []store.FileRow
		err := s.eachRow(ctx, worktree, `
			SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
			FROM ken.row WHERE repository = $1 AND worktree = $2 ORDER BY path`,
			func(r store.FileRow) { rows = append(rows, r) })
		if err != nil {
			yield(store.FileRow{}, err)
			return
		}
		for _, r := range rows {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// RowsOf implements [store.Files].
func (s *Store) RowsOf(ctx context.Context, worktree string, paths []repo.Path) (map[repo.Path]store.FileRow, error) {
	return s.rowsBy(ctx, worktree, `
		SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
		FROM ken.row WHERE repository = $1 AND worktree = $2 AND path = ANY ($3::bytea[])`, pathBytes(paths))
}

// Exceptions implements [store.Files].
func (s *Store) Exceptions(ctx context.Context, worktree string, marks store.FileMarks) (map[repo.Path]store.FileRow, error) {
	return s.rowsBy(ctx, worktree, `
		SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
		FROM ken.row
		WHERE repository = $1 AND worktree = $2 AND (
			marks & $3 <> 0
			OR excluded = '' AND about IS NOT NULL
				AND about IS DISTINCT FROM CASE length(about) WHEN 16 THEN content_md5 ELSE content_id END
		)`, int32(marks))
}

// Counts implements [store.Files]. A summary of a file with unknown content counts as stale.
func (s *Store) Counts(ctx context.Context, worktree string) (t store.FileCounts, err error) {
	err = s.eachRow(ctx, worktree, `
		SELECT path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about
		FROM ken.row WHERE repository = $1 AND worktree = $2`,
		func(r store.FileRow) { t.Add(r, 1) })
	if err != nil {
		return store.FileCounts{}, err
	}
	return t, nil
}

func (s *Store) rowsBy(ctx context.Context, worktree, query string, args ...any) (map[repo.Path]store.FileRow, error) {
	found := make(map[repo.Path]store.FileRow)
	err := s.eachRow(ctx, worktree, query, func(r store.FileRow) { found[r.Path] = r }, args...)
	if err != nil {
		return nil, err
	}
	return found, nil
}

// eachRow calls visit with each row of a query. The first arguments of the query are the repository and the work
// tree.
func (s *Store) eachRow(ctx context.Context, worktree, query string, visit func(store.FileRow), args ...any) error {
	return s.read(ctx, "read", func(tx pgx.Tx) error {
		id, ok, err := s.worktree(ctx, tx, worktree)
		if !ok || err != nil {
			return err
		}
		rows, err := tx.Query(ctx, query, append([]any{s.repository, id}, args...)...)
		var (
			path, contentID, contentMD5, excluded, about []byte
			kind                                         string
			mode, size, mtime, ctime, inode              int64
			marks                                        int32
		)
		return scanAll(rows, err, func() error {
			// A newer ken may know more kinds: they are unknown here, not an error.
			k, _ := repo.ParseKind(kind)
			visit(store.FileRow{
				Path: repo.Path(path), Kind: k, Mode: repo.Mode(mode),
				Content:      repo.Content{ID: repo.IDFromBytes(contentID), MD5: md5Of(contentMD5)},
				Stat:         repo.Stat{Size: size, Mtime: mtime, Ctime: ctime, Inode: uint64(inode)},
				Marks:        store.FileMarks(marks),
				Excluded:     string(excluded),
				SummaryBasis: basisOf(about),
			})
			return nil
		}, &path, &kind, &mode, &contentID, &contentMD5, &size, &mtime, &ctime, &inode, &marks, &excluded, &about)
	})
}

// put inserts rows, or replaces those at the same paths.
func (s *Store) put(ctx context.Context, tx pgx.Tx, worktree int64, list []store.FileRow) error {
	// One statement must not write a row twice: keep the last of each path.
	last := make(map[repo.Path]int, len(list))
	for i, r := range list {
		last[r.Path] = i
	}
	once := make([]store.FileRow, 0, len(last))
	for i, r := range list {
		if last[r.Path] == i {
			once = append(once, r)
		}
	}
	for len(once) > 0 {
		part := once[:min(batch, len(once))]
		once = once[len(part):]
		n := len(part)
		var (
			paths, contents, md5s, excluded, about = columns(n), columns(n), columns(n), columns(n), columns(n)
			kinds                                  = make([]string, n)
			modes, sizes, mtimes, ctimes, inodes   = make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
			marks                                  = make([]int32, n)
		)
		for i, r := range part {
			paths[i], kinds[i], modes[i] = []byte(r.Path), r.Kind.String(), int64(r.Mode)
			contents[i], md5s[i] = idBytes(r.Content.ID), md5Bytes(r.Content.MD5)
			sizes[i], mtimes[i], ctimes[i], inodes[i] = r.Stat.Size, r.Stat.Mtime, r.Stat.Ctime, int64(r.Stat.Inode)
			marks[i], excluded[i], about[i] = int32(r.Marks), []byte(r.Excluded), basisBytes(r.SummaryBasis)
		}
		_, err := tx.Exec(ctx, `
			INSERT INTO ken.file (repository, worktree, path, kind, mode, content_id, content_md5, size, mtime, ctime, inode, marks, excluded, about)
			SELECT $1, $2, new.* FROM unnest($3::bytea[], $4::text[], $5::bigint[], $6::bytea[], $7::bytea[],
				$8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::integer[], $13::bytea[], $14::bytea[]) AS new
			ON CONFLICT (repository, worktree, path) DO UPDATE SET
				kind = excluded.kind, mode = excluded.mode, content_id = excluded.content_id, content_md5 = excluded.content_md5,
				size = excluded.size, mtime = excluded.mtime, ctime = excluded.ctime, inode = excluded.inode,
				marks = excluded.marks, excluded = excluded.excluded, about = excluded.about`,
			s.repository, worktree, paths, kinds, modes, contents, md5s, sizes, mtimes, ctimes, inodes, marks, excluded, about)
		if err != nil {
			return err
		}
	}
	return nil
}

// remove deletes rows.
func (s *Store) remove(ctx context.Context, tx pgx.Tx, worktree int64, paths []repo.Path) error {
	if len(paths) == 0 {
		return nil
	}
	_, err := tx.Exec(ctx, `DELETE FROM ken.file WHERE repository = $1 AND worktree = $2 AND path = ANY ($3::bytea[])`,
		s.repository, worktree, pathBytes(paths))
	return err
}

package searchindex

import (
	"context"

	"zombiezen.com/go/sqlite"

	"ken/internal/repo"
)

// A Commit is an indexed commit.
type Commit struct {
	ID      repo.ID
	Subject string
	Date    string      // RFC 3339
	Paths   []repo.Path // the files that it touched, for PutCommit; queries do not return them
	Files   int         // the number of files that it touched; more than len(Paths) if some are omitted
}

const commitColumns = `oid, subject, date, files`

func commitAt(s *sqlite.Stmt) Commit {
	return Commit{ID: idAt(s, 0), Subject: s.ColumnText(1), Date: s.ColumnText(2), Files: s.ColumnInt(3)}
}

// Commits lists the ids of the indexed commits.
func (x *Index) Commits(ctx context.Context) (map[repo.ID]bool, error) {
	ids := make(map[repo.ID]bool)
	err := x.each(ctx, `SELECT oid FROM entry`, func(s *sqlite.Stmt) error { ids[idAt(s, 0)] = true; return nil })
	return ids, err
}

// LastCommits returns the newest commits that touched a path.
func (x *Index) LastCommits(ctx context.Context, p repo.Path, limit int) ([]Commit, error) {
	return x.commits(ctx, `
		SELECT `+commitColumns+` FROM path JOIN touch ON touch.path = path.id JOIN entry ON entry.id = touch.entry
		WHERE path.path = ?1 ORDER BY date DESC, oid LIMIT ?2`, p, limit)
}

// LastCommitsBelow returns the newest commits that touched a file in a directory.
func (x *Index) LastCommitsBelow(ctx context.Context, dir repo.Path, limit int) ([]Commit, error) {
	if dir == "" {
		return x.commits(ctx, `SELECT `+commitColumns+` FROM entry ORDER BY date DESC, oid LIMIT ?1`, limit)
	}
	return x.commits(ctx, `
		SELECT DISTINCT `+commitColumns+` FROM path JOIN touch ON touch.path = path.id JOIN entry ON entry.id = touch.entry
		WHERE path.path GLOB ?1 ORDER BY date DESC, oid LIMIT ?2`, globBelow(dir), limit)
}

func (x *Index) commits(ctx context.Context, query string, args ...any) (list []Commit, err error) {
	err = x.each(ctx, query, func(s *sqlite.Stmt) error { list = append(list, commitAt(s)); return nil }, args...)
	return list, err
}

// History returns how many commits are indexed, and the date of the oldest one.
func (x *Index) History(ctx context.Context) (commits int, since string, err error) {
	err = x.each(ctx, `SELECT count(*), coalesce(min(date), '') FROM entry`, func(s *sqlite.Stmt) error {
		commits, since = s.ColumnInt(0), s.ColumnText(1)
		return nil
	})
	return commits, since, err
}

// CommitsLargerThan counts the commits that touched more than the given number of files.
func (x *Index) CommitsLargerThan(ctx context.Context, files int) (int, error) {
	return x.number(ctx, `SELECT count(*) FROM entry WHERE files > ?1`, files)
}

// TouchCounts counts the indexed commits that touched each file.
func (x *Index) TouchCounts(ctx context.Context) (map[int64]int, error) {
	counts := make(map[int64]int)
	err := x.each(ctx, `SELECT path, count(*) FROM touch GROUP BY path`, func(s *sqlite.Stmt) error {
		counts[s.ColumnInt64(0)] = s.ColumnInt(1)
		return nil
	})
	return counts, err
}

// EachTouched calls f with each indexed file that a commit touched, and with the number of files of the commit.
func (x *Index) EachTouched(ctx context.Context, commit int64, f func(file int64, files int)) error {
	return x.each(ctx, `
		SELECT path, files FROM touch JOIN entry ON entry.id = touch.entry JOIN file ON file.id = touch.path
		WHERE touch.entry = ?1`, func(s *sqlite.Stmt) error { f(s.ColumnInt64(0), s.ColumnInt(1)); return nil }, commit)
}

// A Companion is a file that commits touched together with another file or with a directory.
type Companion struct {
	Entry
	Together int // the number of commits that touched both
}

// CommitCount counts the commits of at most maxFiles files that touched a file.
func (x *Index) CommitCount(ctx context.Context, file int64, maxFiles int) (int, error) {
	return x.number(ctx, `SELECT count(*) FROM touch JOIN entry ON entry.id = touch.entry WHERE path = ?1 AND files <= ?2`, file, maxFiles)
}

// Companions returns the files that change together with a file, most often first, and how
// many commits touched the file. Commits of more than maxFiles files do not count.
func (x *Index) Companions(ctx context.Context, file int64, maxFiles, limit int) (list []Companion, commits int, err error) {
	if commits, err = x.CommitCount(ctx, file, maxFiles); err != nil || commits == 0 {
		return nil, commits, err
	}
	list, err = x.companions(ctx, `
		SELECT `+fileColumns+`, count(*) AS together
		FROM touch JOIN entry ON entry.id = touch.entry JOIN touch AS other ON other.entry = touch.entry
			JOIN file ON file.id = other.path JOIN path ON path.id = other.path
		WHERE touch.path = ?1 AND other.path <> ?1 AND files <= ?2
		GROUP BY other.path ORDER BY together DESC, path.path LIMIT ?3`, file, maxFiles, limit)
	return list, commits, err
}

// CompanionsOfDir returns the files outside of a directory that change together with it, most often first, and
// how many commits touched the directory. Commits of more than maxFiles files do not count.
func (x *Index) CompanionsOfDir(ctx context.Context, dir repo.Path, maxFiles, limit int) (list []Companion, commits int, err error) {
	const inside = `WITH inside AS (
		SELECT DISTINCT touch.entry FROM path JOIN touch ON touch.path = path.id JOIN entry ON entry.id = touch.entry
		WHERE path.path GLOB ?1 AND entry.files <= ?2) `
	below := globBelow(dir)
	if commits, err = x.number(ctx, inside+`SELECT count(*) FROM inside`, below, maxFiles); err != nil || commits == 0 {
		return nil, commits, err
	}
	list, err = x.companions(ctx, inside+`
		SELECT `+fileColumns+`, count(*) AS together
		FROM inside JOIN touch ON touch.entry = inside.entry JOIN file ON file.id = touch.path JOIN path ON path.id = touch.path
		WHERE NOT path.path GLOB ?1 GROUP BY touch.path ORDER BY together DESC, path.path LIMIT ?3`, below, maxFiles, limit)
	return list, commits, err
}

func (x *Index) companions(ctx context.Context, query string, args ...any) (list []Companion, err error) {
	err = x.each(ctx, query, func(s *sqlite.Stmt) error {
		list = append(list, Companion{entryAt(s), s.ColumnInt(4)})
		return nil
	}, args...)
	return list, err
}

package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"
)

// Remembered returns the last value that Remember stored under a key, "" if there is none.
func (s *Store) Remembered(ctx context.Context, key string) (value string, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		value, err = config(conn, key)
		return err
	})
	return value, err
}

// Remember stores a value under a key, in the same file as the records, so that a copy or backup has both. The
// value "" deletes the key. The last value may be lost in a power cut.
func (s *Store) Remember(ctx context.Context, key, value string) error {
	return s.write(ctx, relaxed, func(conn *sqlite.Conn) error { return setConfig(conn, key, value) })
}

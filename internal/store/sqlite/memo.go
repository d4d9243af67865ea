package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"
)

// Value returns the last value that SetValue stored under a key, "" if there is none.
func (s *Store) Value(ctx context.Context, key string) (value string, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		value, err = config(conn, key)
		return err
	})
	return value, err
}

// SetValue stores a value under a key, in the same file as the records, so that a copy or backup has both. The
// value "" deletes the key. The last value may be lost in a power cut.
func (s *Store) SetValue(ctx context.Context, key, value string) error {
	return s.write(ctx, relaxed, func(conn *sqlite.Conn) error { return setConfig(conn, key, value) })
}

package sqlite

import (
	"context"

	"zombiezen.com/go/sqlite"
)

// Remembered returns what Remember was last given under a key, "" for nothing.
func (s *Store) Remembered(ctx context.Context, key string) (value string, err error) {
	err = s.read(ctx, func(conn *sqlite.Conn) (err error) {
		value, err = config(conn, key)
		return err
	})
	return value, err
}

// Remember keeps a value beside what it speaks of, so that both are lost, copied and put back
// together; "" forgets it. A power cut may take the last one.
func (s *Store) Remember(ctx context.Context, key, value string) error {
	return s.write(ctx, forNow, func(conn *sqlite.Conn) error { return setConfig(conn, key, value) })
}

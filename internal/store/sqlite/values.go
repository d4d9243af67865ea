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

// setConfig sets a key in plugin_config; "" removes it.
func setConfig(conn *sqlite.Conn, key, value string) error {
	if value == "" {
		return execute(conn, `DELETE FROM plugin_config WHERE key = ?1`, key)
	}
	return execute(conn, `INSERT INTO plugin_config (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2`, key, value)
}

// config returns the value of a key in plugin_config, "" if there is none.
func config(conn *sqlite.Conn, key string) (value string, err error) {
	err = each(conn, `SELECT value FROM plugin_config WHERE key = ?1`, func(stmt *sqlite.Stmt) error {
		value = stmt.ColumnText(0)
		return nil
	}, key)
	return value, err
}

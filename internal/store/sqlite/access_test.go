package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"ken/internal/store/sqlite"
)

// Writable returns true while other processes create and remove the log.
func TestWritableWhileOthersWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ken.db")
	stop, done := make(chan bool), make(chan error)
	go func() {
		var err error
		for err == nil {
			select {
			case <-stop:
				done <- nil
				return
			default:
				err = errors.Join(os.WriteFile(path+"-wal", nil, 0o666), os.Remove(path+"-wal"))
			}
		}
		done <- err
	}()
	for range 20_000 {
		if !sqlite.Writable(path) {
			t.Error("not writable")
			break
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

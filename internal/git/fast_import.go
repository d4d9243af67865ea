package git

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// onePack keeps the pack that git writes. git would unpack a small pack into two files per
// record, which takes three times as long as everything else.
var onePack = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=fastimport.unpackLimit", "GIT_CONFIG_VALUE_0=1"}

// importTries limits the attempts while another git process writes the same pack. All attempts
// together take about a second; the other process needs milliseconds.
const importTries = 12

// fastImport runs commands that print one id, and returns that id.
//
// git names a pack by its content, and creates a .keep file of that name before it adds the
// pack. Two processes that write the same commit in the same second write the same pack: the
// second one finds the .keep file and fails. fastImport then tries again until the pack of the
// first one is there.
func (r *Repo) fastImport(ctx context.Context, commands []byte) (repo.ID, error) {
	args := []string{"fast-import", "--quiet", "--force", "--done", "--date-format=raw"}
	for try := 1; ; try++ {
		out, status, stderr, err := r.git().Collect(ctx, command.Call{Args: args, Stdin: bytes.NewReader(commands), Env: onePack})
		if err == nil && status != 0 {
			err = r.git().Failed(args, status, stderr)
			if strings.Contains(stderr, "cannot create keep file") && try < importTries {
				r.forgetCrash(stderr)
				if err = pause(ctx, rand.N(5*time.Millisecond<<min(try, 6))); err == nil {
					continue
				}
			}
		}
		if err != nil {
			return repo.ID{}, fmt.Errorf("write a commit: %w", err)
		}
		id, err := repo.ParseID(strings.TrimSpace(out))
		if err != nil {
			return repo.ID{}, fmt.Errorf("git fast-import: %w", err)
		}
		return id, nil
	}
}

// forgetCrash removes the crash report that git leaves in the repository.
func (r *Repo) forgetCrash(stderr string) {
	const says, name = "dumping crash report to ", "fast_import_crash_"
	_, rest, ok := strings.Cut(stderr, says)
	path, _, _ := strings.Cut(rest, "\n")
	if base := filepath.Base(strings.TrimSpace(path)); ok && strings.HasPrefix(base, name) {
		for _, dir := range []string{r.gitDir, r.common} {
			_ = os.Remove(filepath.Join(dir, base)) // it is in one of them
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return command.Stopped(ctx, "git fast-import")
	case <-time.After(d):
		return nil
	}
}

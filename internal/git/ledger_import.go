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

	"ken/internal/repo"
)

// onePack has git keep the pack that it writes. It would take a small one apart, into two
// files to a record, and writing these takes three times as long as all the rest.
var onePack = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=fastimport.unpackLimit", "GIT_CONFIG_VALUE_0=1"}

// importTries is how often something is written while another run of git writes the same:
// in the end it waits for a second or so, and the other needs milliseconds.
const importTries = 12

// fastImport has git carry out commands, and returns the ids that it answers with.
//
// A pack is named by what is in it. Whoever writes the same in the same clone and second
// writes the same pack, and git marks a pack that it is about to add with a file of that
// name: the second to come finds that there is one, and gives up. So it is tried again,
// until the other's pack is there, and nothing is to be written any more.
func (l Ledger) fastImport(ctx context.Context, commands []byte, want int) ([]repo.ID, error) {
	args := []string{"fast-import", "--quiet", "--force", "--done", "--date-format=raw"}
	for try := 1; ; try++ {
		out := &bounded{max: maxAnswer}
		status, stderr, err := l.r.run(ctx, call{args: args, stdin: bytes.NewReader(commands), stdout: out, env: onePack})
		if err == nil && status != 0 {
			err = l.r.failed(args, status, stderr)
			if strings.Contains(stderr, "cannot create keep file") && try < importTries {
				l.forgetCrash(stderr)
				if err = pause(ctx, rand.N(5*time.Millisecond<<min(try, 6))); err == nil {
					continue
				}
			}
		}
		if err != nil {
			return nil, fmt.Errorf("write what is to be shared: %w", err)
		}
		words := strings.Fields(out.String())
		if len(words) != want {
			return nil, fmt.Errorf("git fast-import: %d answers, want %d", len(words), want)
		}
		ids := make([]repo.ID, want)
		for i, word := range words {
			if ids[i], err = repo.ParseID(word); err != nil {
				return nil, fmt.Errorf("git fast-import: %w", err)
			}
		}
		return ids, nil
	}
}

// forgetCrash removes the report that git leaves in the repository where it gave up.
func (l Ledger) forgetCrash(stderr string) {
	const says, name = "dumping crash report to ", "fast_import_crash_"
	_, rest, ok := strings.Cut(stderr, says)
	path, _, _ := strings.Cut(rest, "\n")
	if base := filepath.Base(strings.TrimSpace(path)); ok && strings.HasPrefix(base, name) {
		for _, dir := range []string{l.r.gitDir, l.r.common} {
			_ = os.Remove(filepath.Join(dir, base)) // it is in one of them
		}
	}
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return stopped(ctx, "git fast-import")
	case <-time.After(d):
		return nil
	}
}

package git

import (
	"context"
	"errors"
	"fmt"

	"ken/internal/repo"
)

// HasCRLF reports whether a blob is text with CRLF in it, by the rules with
// which git decides to leave such line endings alone. A blob that is not here
// is an error.
func (r *Repo) HasCRLF(ctx context.Context, blob repo.ID) (bool, error) {
	if blob.IsZero() {
		return false, nil
	}
	var s textGuess
	status, stderr, err := r.run(ctx, call{args: []string{"cat-file", "blob", blob.String()}, stdout: &s})
	if s.Hopeless() {
		return false, nil // certain, though git may complain that nobody reads on
	}
	if err == nil && status != 0 {
		err = r.failed([]string{"cat-file"}, status, stderr)
	}
	if err != nil {
		return false, fmt.Errorf("read blob %s: %w", blob.Short(), err)
	}
	return !s.Binary() && s.CRLF() > 0, nil
}

// errBinary stops the reading of a blob that turned out not to be text.
var errBinary = errors.New("not text")

// A textGuess is repo's, which fails as soon as nothing can make it text.
type textGuess struct{ repo.TextStats }

func (g *textGuess) Write(p []byte) (int, error) {
	g.Add(p)
	if g.Hopeless() {
		return len(p), errBinary
	}
	return len(p), nil
}

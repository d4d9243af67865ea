package git

import (
	"context"
	"errors"
	"fmt"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// HasCRLF reports whether a blob is text with CRLF. It uses the rules by which git keeps such line endings. A missing
// blob is an error.
func (r *Repo) HasCRLF(ctx context.Context, blob repo.ID) (bool, error) {
	if blob.IsZero() {
		return false, nil
	}
	var s textGuess
	err := r.git().Stream(ctx, command.Call{Args: []string{"cat-file", "blob", blob.String()}, Stdout: &s})
	if s.CertainlyBinary() {
		return false, nil // the answer is certain; git fails because ken stopped reading
	}
	if err != nil {
		return false, fmt.Errorf("read blob %s: %w", blob.Short(), err)
	}
	return !s.Binary() && s.CRLF() > 0, nil
}

// errBinary stops reading a blob that is not text.
var errBinary = errors.New("not text")

// A textGuess is a writer that fails as soon as the content cannot be text.
type textGuess struct{ repo.TextStats }

func (g *textGuess) Write(p []byte) (int, error) {
	g.Add(p)
	if g.CertainlyBinary() {
		return len(p), errBinary
	}
	return len(p), nil
}

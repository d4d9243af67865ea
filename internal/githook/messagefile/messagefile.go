// Package messagefile changes the file in which git keeps the message of a commit while its hooks run. Package githook
// decides the new text.
package messagefile

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"ken/internal/atomicfile"
	"ken/internal/git"
	"ken/internal/githook"
)

// maxMessage is the limit for a commit message, including the diff of git commit -v.
const maxMessage = 256 << 20

// Messages changes the message files of a repository.
type Messages struct {
	Git *git.Repo
	Dir string // the base of relative paths
}

// AddSession adds a session to the message that git prepared in a file.
func (m Messages) AddSession(ctx context.Context, file, source, session string) error {
	replay, err := m.Git.RebaseInProgress(ctx)
	if err != nil {
		return err
	}
	return m.edit(file, func(text []byte) ([]byte, error) {
		message := githook.Message{Text: text, Source: source, Replay: replay, Editor: edited()}
		message.Comment, err = m.comment(ctx, text)
		if err != nil {
			return nil, err
		}
		return message.AddSession(session), nil
	})
}

// Finish adds the session to a message that the user wrote in an editor after AddSession. It asks
// git only if the message announces the trailer.
func (m Messages) Finish(ctx context.Context, file, session string) error {
	return m.edit(file, func(text []byte) ([]byte, error) {
		message := githook.Message{Text: text, Editor: edited()}
		if !message.MayHaveNote(session) {
			return text, nil
		}
		var err error
		message.Comment, err = m.comment(ctx, text)
		if err != nil {
			return nil, err
		}
		return message.Finish(session), nil
	})
}

// edited reports whether the user edits the message. Git sets GIT_EDITOR to ":" if not.
func edited() bool { return os.Getenv("GIT_EDITOR") != ":" }

// comment returns the prefix of comments in a message.
func (m Messages) comment(ctx context.Context, text []byte) (string, error) {
	char, err := m.Git.CommentChar(ctx)
	return githook.Comment(char, text), err
}

// edit changes a message, and replaces the file if the text differs.
func (m Messages) edit(file string, change func([]byte) ([]byte, error)) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(m.Dir, file)
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	defer root.Close()
	name := filepath.Base(file)
	text, info, err := atomicfile.ReadIn(root, name, maxMessage)
	if err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	changed, err := change(text)
	if err != nil || string(changed) == string(text) {
		return err
	}
	if err := atomicfile.WriteIn(root, name, changed, info.Mode().Perm()); err != nil {
		return fmt.Errorf("write the message: %w", err)
	}
	return nil
}

package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ken/internal/atomicfile"
	"ken/internal/git"
	"ken/internal/githook"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/spec"
)

// maxMessage is the limit for a commit message, including the diff of git commit -v.
const maxMessage = 256 << 20

// A hookSpace is a repository for git hooks. It opens stores and indexes only on demand,
// since most commits need none.
type hookSpace struct {
	git *git.Repo
	dir string // where the command was run
}

func openHooks(ctx context.Context, dir string) (*hookSpace, error) {
	if dir == "" {
		dir = "."
	}
	g, err := git.Open(ctx, dir)
	if err != nil {
		return nil, err
	}
	return &hookSpace{git: g, dir: dir}, nil
}

// Gate judges the staged changes. The answer is nil in a repository without specs; ken
// then starts no git.
func (h *hookSpace) Gate(ctx context.Context) (gated *spec.GateResult, strict bool, err error) {
	if some, err := h.hasSpecs(ctx); err != nil || !some {
		return nil, false, err
	}
	w, err := open(ctx, openOptions{dir: h.dir})
	if err != nil {
		return nil, false, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	policy := w.GatePolicy()
	gated, err = w.Spec().Gate(ctx, spec.GateOptions{Threshold: policy.Threshold})
	return gated, policy.BlockUnknown, err
}

// hasSpecs reports whether the work tree has specs, or the index, since the work tree may
// be sparse.
func (h *hookSpace) hasSpecs(ctx context.Context) (bool, error) {
	_, err := os.Lstat(filepath.Join(h.git.Root(), string(spec.Root)))
	if err == nil {
		return true, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("look for specs: %w", err)
	}
	s, err := h.git.Snapshot(ctx)
	if err != nil {
		return false, err
	}
	return slices.ContainsFunc(s.Index.Entries, func(e repo.Entry) bool { return e.Path.Under(spec.Root) }), nil
}

// Sign adds a session to the message that git prepared in a file.
func (h *hookSpace) Sign(ctx context.Context, file, source, session string) error {
	replay, err := h.git.RebaseInProgress(ctx)
	if err != nil {
		return err
	}
	return h.edit(file, func(text []byte) ([]byte, error) {
		m := githook.Message{Text: text, Source: source, Replay: replay, Editor: edited()}
		if m.Comment, err = h.comment(ctx, text); err != nil {
			return nil, err
		}
		return m.Sign(session), nil
	})
}

// Finish adds the session to a message that the user wrote in an editor after Sign. It asks
// git only if the message announces the trailer.
func (h *hookSpace) Finish(ctx context.Context, file, session string) error {
	return h.edit(file, func(text []byte) ([]byte, error) {
		m := githook.Message{Text: text, Editor: edited()}
		if !m.Awaits(session) {
			return text, nil
		}
		var err error
		if m.Comment, err = h.comment(ctx, text); err != nil {
			return nil, err
		}
		return m.Finish(session), nil
	})
}

// Close closes the commit at HEAD. It returns nil if the repository was never verified,
// since a hook does not read every file, and while git replays commits.
func (h *hookSpace) Close(ctx context.Context) (closed *registry.Closing, err error) {
	if !exists(filepath.Join(h.git.CommonDir(), "ken", "ken.db")) {
		return nil, nil
	}
	if replay, err := h.git.RebaseInProgress(ctx); err != nil || replay {
		return nil, err
	}
	w, err := open(ctx, openOptions{dir: h.dir})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if _, verified, err := w.store.Baseline(ctx, w.git.Worktree()); err != nil || !verified {
		return nil, err
	}
	return w.registry.Close(ctx, registry.CloseOptions{})
}

// edited reports whether the user edits the message. Git sets GIT_EDITOR to ":" if not.
func edited() bool { return os.Getenv("GIT_EDITOR") != ":" }

// comment returns the prefix of comments in a message.
func (h *hookSpace) comment(ctx context.Context, text []byte) (string, error) {
	char, err := h.git.CommentChar(ctx)
	return githook.Comment(char, text), err
}

// edit changes a message, and replaces the file if the text differs.
func (h *hookSpace) edit(file string, change func([]byte) ([]byte, error)) error {
	if !filepath.IsAbs(file) {
		file = filepath.Join(h.dir, file)
	}
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return fmt.Errorf("read the message: %w", err)
	}
	defer root.Close()
	name := filepath.Base(file)
	text, info, err := readWhole(root, name, maxMessage)
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

// readWhole reads a regular file of at most limit bytes.
func readWhole(root *os.Root, name string, limit int64) ([]byte, fs.FileInfo, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, nil, fmt.Errorf("%s is not a regular file", name)
	}
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s holds more than %d bytes", name, limit)
	}
	return text, info, err
}

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

// maxMessage is more than a commit message with the longest of diffs below it.
const maxMessage = 256 << 20

// A hookSpace is a repository as git's hooks need it: nothing is opened before it is
// asked for, since most commits need none of it.
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

// Gate judges what is staged. Where there are no specs the answer is nil, and git was
// not asked to know it.
func (h *hookSpace) Gate(ctx context.Context) (gated *spec.Gated, strict bool, err error) {
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

// hasSpecs reports whether there are specs, in the work tree or, where it is sparse or
// they were deleted in it, in the index.
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

// Sign adds a session to the message that git has prepared in a file.
func (h *hookSpace) Sign(ctx context.Context, file, source, session string) error {
	replay, err := h.git.Replaying(ctx)
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

// Finish adds the session to a message that was not written yet when Sign met it. git
// is asked only where there may be something to finish.
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

// Close closes the commit at HEAD, where there is a verification that it can go on from:
// reading every file for the first time is nothing to do in a hook. While commits are
// replayed each of them comes by, and none is anybody's work.
func (h *hookSpace) Close(ctx context.Context) (closed *registry.Closing, err error) {
	if !exists(filepath.Join(h.git.CommonDir(), "ken", "ken.db")) {
		return nil, nil
	}
	if replay, err := h.git.Replaying(ctx); err != nil || replay {
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

// edited reports whether an editor is involved in a message: git tells a hook where
// there is none.
func edited() bool { return os.Getenv("GIT_EDITOR") != ":" }

// comment returns what begins a comment in a message.
func (h *hookSpace) comment(ctx context.Context, text []byte) (string, error) {
	char, err := h.git.CommentChar(ctx)
	return githook.Comment(char, text), err
}

// edit replaces a message, whole, if there is anything to change.
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

// readWhole reads a regular file of at most so many bytes.
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

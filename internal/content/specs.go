package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/spec"
)

// maxSpec is more of a spec file than anyone reads.
const maxSpec = 2 << 20

// Specs returns the spec files in the work tree, tracked or not. No link is
// followed.
func (t *Tree) Specs(ctx context.Context) ([]spec.File, error) {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return nil, fmt.Errorf("read the specs: %w", err)
	}
	defer root.Close()
	if info, err := root.Lstat(spec.Root); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, nil
	}
	var found []spec.File
	err = fs.WalkDir(root.FS(), spec.Root, func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return &fault.Error{Kind: fault.Interrupted, Err: fmt.Errorf("read the specs: %w", ctx.Err())}
		case err != nil:
			return fmt.Errorf("read the specs: %w", err)
		case e.Name() != spec.FileName || !e.Type().IsRegular():
			return nil
		}
		b, err := readSpec(root, name)
		found = append(found, spec.File{Path: repo.Path(name), Content: b})
		return err
	})
	return found, err
}

func readSpec(root *os.Root, name string) ([]byte, error) {
	f, err := root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", repo.Path(name), err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxSpec))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", repo.Path(name), err)
	}
	return b, nil
}

// Create writes a file that is not there yet, and the directories above it.
func (t *Tree) Create(p repo.Path, content []byte) error {
	root, err := os.OpenRoot(t.root)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(path.Dir(string(p)), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", p, err)
	}
	f, err := root.OpenFile(string(p), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &fault.Error{Hint: "edit it instead, or choose another name", Err: fmt.Errorf("%s is there already", p)}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", p, err)
	}
	_, err = f.Write(content)
	return errors.Join(err, f.Close())
}

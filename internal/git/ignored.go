package git

import (
	"context"
	"errors"
	"strings"

	"ken/internal/git/command"
	"ken/internal/repo"
)

// Ignored reports for each path whether git would ignore a file there. A path behind a symbolic link or
// in a submodule is not ignored.
func (r *Repo) Ignored(ctx context.Context, paths []repo.Path) ([]bool, error) {
	ignored := make([]bool, len(paths))
	if len(paths) == 0 {
		return ignored, nil
	}
	found, err := r.checkIgnore(ctx, paths)
	if _, refused := errors.AsType[*command.Error](err); refused && len(paths) > 1 {
		// Git refuses the whole list because of one such path.
		half := len(paths) / 2
		first, err := r.Ignored(ctx, paths[:half])
		if err != nil {
			return nil, err
		}
		second, err := r.Ignored(ctx, paths[half:])
		return append(first, second...), err
	} else if refused {
		return ignored, nil
	}
	if err != nil {
		return nil, err
	}
	for i, p := range paths {
		ignored[i] = found[string(p)]
	}
	return ignored, nil
}

func (r *Repo) checkIgnore(ctx context.Context, paths []repo.Path) (map[string]bool, error) {
	var names strings.Builder
	for _, p := range paths {
		// With this prefix git takes no name for an option or a pathspec.
		names.WriteString("./" + string(p) + "\x00")
	}
	found := make(map[string]bool)
	args := []string{"check-ignore", "-z", "--stdin"}
	out, status, stderr, err := r.git().Collect(ctx, command.Call{Args: args, Stdin: strings.NewReader(names.String()), Pathspecs: true})
	switch {
	case err != nil:
		return nil, err
	case status > 1:
		return nil, r.git().Failed(args, status, stderr)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(out, "\x00"), "\x00") {
		if name != "" {
			found[strings.TrimPrefix(name, "./")] = true
		}
	}
	return found, nil
}

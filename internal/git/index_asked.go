package git

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/fault"
	"ken/internal/repo"
)

// tries bounds how often a reading is repeated because something moved under
// it.
const tries = 5

// indexFromGit asks git what the index tracks, and what of it is unchanged on
// disk. It is slower than reading the index by a factor of ten and understands
// every layout.
//
// The entries carry no stat; those that git calls unchanged are Vouched for.
func (r *Repo) indexFromGit(ctx context.Context) (repo.Index, error) {
	for range tries {
		before, err := r.stampIndex()
		if err != nil {
			return repo.Index{}, err
		}
		idx, err := r.askIndex(ctx)
		if err != nil {
			return repo.Index{}, err
		}
		after, err := r.stampIndex()
		if err != nil {
			return repo.Index{}, err
		}
		if before.same(after) {
			idx.Checksum, idx.Stat = after.checksum, after.stat
			return idx, nil
		}
	}
	return repo.Index{}, errMoving("the index")
}

func errMoving(what string) error {
	return &fault.Error{
		Hint: "let the other git command finish, then try again",
		Err:  fmt.Errorf("read repository: %s keeps changing", what),
	}
}

func (r *Repo) askIndex(ctx context.Context) (repo.Index, error) {
	listed, err := r.read(ctx, nil, "ls-files", "-z", "--stage", "-v", "--full-name")
	if err != nil {
		return repo.Index{}, err
	}
	entries, err := parseLsFiles(listed)
	if err != nil {
		return repo.Index{}, err
	}
	status, err := r.read(ctx, nil, "status", "--porcelain=v2", "-z", "--untracked-files=no",
		"--ignored=no", "--no-renames", "--ignore-submodules=dirty", "--no-ahead-behind")
	if err != nil {
		return repo.Index{}, err
	}
	changed, err := parseStatus(status)
	if err != nil {
		return repo.Index{}, err
	}
	for i := range entries {
		e := &entries[i]
		state, listed := changed[e.Path]
		if state.intent {
			e.Flags |= repo.IntentToAdd
		}
		const silent = repo.AssumeUnchanged | repo.SkipWorktree | repo.Conflicted | repo.IntentToAdd
		if (!listed || !state.worktree) && e.Flags&silent == 0 {
			e.Flags |= repo.Vouched
		}
	}
	return repo.Index{Entries: entries}, nil
}

// parseLsFiles reads `git ls-files -z --stage -v`: tag, mode, id, stage, tab,
// path, NUL. The tag is S for skip-worktree, and in lower case for
// assume-unchanged.
func parseLsFiles(out string) ([]repo.Entry, error) {
	entries := make([]repo.Entry, 0, strings.Count(out, "\x00"))
	stageBefore := 0
	for len(out) > 0 {
		item, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			return nil, errors.New("git ls-files: the answer breaks off")
		}
		out = rest
		e, stage, err := parseLsFile(item)
		if err != nil {
			return nil, err
		}
		if n := len(entries); n > 0 {
			last := &entries[n-1]
			switch {
			case last.Path == e.Path && stage > stageBefore && stageBefore > 0:
				if stage == 2 {
					last.Mode = e.Mode
				}
				stageBefore = stage
				continue
			case last.Path >= e.Path:
				return nil, fmt.Errorf("git ls-files: %s is out of order", e.Path)
			}
		}
		stageBefore = stage
		entries = append(entries, e)
	}
	return entries, nil
}

func parseLsFile(item string) (e repo.Entry, stage int, err error) {
	fields, path, ok := strings.Cut(item, "\t")
	part := strings.Split(fields, " ")
	if !ok || len(part) != 4 || len(part[0]) != 1 {
		return repo.Entry{}, 0, fmt.Errorf("git ls-files: cannot read %q", item)
	}
	raw, err := strconv.ParseUint(part[1], 8, 32)
	mode, known := cleanMode(uint32(raw))
	if err != nil || !known {
		return repo.Entry{}, 0, fmt.Errorf("git ls-files: unknown mode in %q", item)
	}
	id, err := repo.ParseID(part[2])
	if err != nil {
		return repo.Entry{}, 0, fmt.Errorf("git ls-files: %w", err)
	}
	if len(part[3]) != 1 || part[3][0] < '0' || part[3][0] > '3' {
		return repo.Entry{}, 0, fmt.Errorf("git ls-files: unknown stage in %q", item)
	}
	if !soundPath([]byte(path)) {
		return repo.Entry{}, 0, fmt.Errorf("git ls-files: %s is no path of a work tree", repo.Path(path))
	}
	e = repo.Entry{Path: repo.Path(path), ID: id, Mode: mode}
	stage = int(part[3][0] - '0')
	tag := part[0][0]
	if tag >= 'a' && tag <= 'z' {
		e.Flags |= repo.AssumeUnchanged
	}
	if lower(tag) == 's' {
		e.Flags |= repo.SkipWorktree
	}
	if stage > 0 {
		e.Flags |= repo.Conflicted
		e.ID = repo.ID{}
	}
	return e, stage, nil
}

// A pathState is what git status says of one path.
type pathState struct {
	worktree bool // it differs from the index, or git cannot tell
	intent   bool // only the intent to add it is in the index
}

// parseStatus reads `git status --porcelain=v2 -z`. Paths it does not name are
// unchanged.
func parseStatus(out string) (map[repo.Path]pathState, error) {
	states := map[repo.Path]pathState{}
	for len(out) > 0 {
		item, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			return nil, errors.New("git status: the answer breaks off")
		}
		out = rest
		fields := 0 // before the path
		switch {
		case strings.HasPrefix(item, "1 "):
			fields = 8
		case strings.HasPrefix(item, "2 "):
			fields = 9
			// The path it was renamed from stands in an item of its own.
			if _, out, ok = strings.Cut(out, "\x00"); !ok {
				return nil, errors.New("git status: the answer breaks off")
			}
		case strings.HasPrefix(item, "u "):
			fields = 10
		case strings.HasPrefix(item, "# "), strings.HasPrefix(item, "? "), strings.HasPrefix(item, "! "):
			continue
		}
		part := strings.SplitN(item, " ", fields+1)
		if fields == 0 || len(part) != fields+1 || len(part[1]) != 2 || part[fields] == "" {
			return nil, fmt.Errorf("git status: cannot read %q", item)
		}
		states[repo.Path(part[fields])] = pathState{
			worktree: part[1][1] != '.' || fields == 10,
			intent:   part[1] == ".A",
		}
	}
	return states, nil
}

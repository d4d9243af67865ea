package index

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// ParseLsFiles reads `git ls-files -z --stage -v --debug`: tag, mode, id, stage,
// tab, path, NUL, and then what git saw on disk. The tag is S for skip-worktree,
// and in lower case for assume-unchanged.
func ParseLsFiles(out string) ([]repo.Entry, error) {
	entries := make([]repo.Entry, 0, strings.Count(out, "\x00"))
	stageBefore := 0
	for len(out) > 0 {
		item, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			return nil, errors.New("git ls-files: the answer breaks off")
		}
		e, stage, err := parseLsFile(item)
		if err != nil {
			return nil, err
		}
		if out, err = parseSeen(rest, &e); err != nil {
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
	if !ValidPath([]byte(path)) {
		return repo.Entry{}, 0, fmt.Errorf("git ls-files: %s is no path of a work tree", repo.Path(path))
	}
	e = repo.Entry{Path: repo.Path(path), ID: id, Mode: mode}
	stage = int(part[3][0] - '0')
	tag := part[0][0]
	if tag >= 'a' && tag <= 'z' {
		e.Flags |= repo.AssumeUnchanged
	}
	if tag == 's' || tag == 'S' {
		e.Flags |= repo.SkipWorktree
	}
	if stage > 0 {
		e.Flags |= repo.Conflicted
		e.ID = repo.ID{}
	}
	return e, stage, nil
}

// parseSeen reads the five lines in which --debug shows the rest of an entry, and
// returns what follows them. Git does not promise their form, so a value that
// cannot be read is left zero: that proves nothing, and costs a look at the file.
func parseSeen(text string, e *repo.Entry) (rest string, err error) {
	var value [5]string
	for i, name := range []string{"ctime", "mtime", "dev", "uid", "size"} {
		line, after, ok := strings.Cut(text, "\n")
		key, v, sound := strings.Cut(strings.TrimLeft(line, " "), ": ")
		if !ok || !sound || key != name {
			return "", fmt.Errorf("git ls-files: no %s of %s in the answer", name, e.Path)
		}
		value[i], text = v, after
	}
	var seen repo.Stat
	seen.Ctime, seen.Mtime = nanoseconds(value[0]), nanoseconds(value[1])
	_, inode, _ := strings.Cut(value[2], "\tino: ")
	size, flags, _ := strings.Cut(value[4], "\tflags: ")
	n, errInode := strconv.ParseUint(inode, 10, 64)
	seen.Inode = n
	seen.Size, err = strconv.ParseInt(size, 10, 64)
	bits, errFlags := strconv.ParseUint(flags, 16, 64)
	const intentToAdd = 1 << 29 // CE_INTENT_TO_ADD
	if bits&intentToAdd != 0 {
		e.Flags |= repo.IntentToAdd
	}
	if errInode == nil && err == nil && errFlags == nil && !e.Flags.Has(repo.Conflicted) {
		e.Stat = seen
	}
	return text, nil
}

// nanoseconds reads seconds and nanoseconds with a colon between them; 0 is what
// it says of anything else.
func nanoseconds(s string) int64 {
	sec, ns, _ := strings.Cut(s, ":")
	a, errA := strconv.ParseInt(sec, 10, 64)
	b, errB := strconv.ParseInt(ns, 10, 64)
	if errA != nil || errB != nil || a < 0 || a > 1<<33 || b < 0 || b >= 1e9 {
		return 0
	}
	return a*1e9 + b
}

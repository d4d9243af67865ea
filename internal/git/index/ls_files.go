package index

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"ken/internal/repo"
)

// ParseLsFiles parses the output of `git ls-files -z --stage -v --debug`: tag, mode, id, stage,
// tab, path, NUL, and the stat of the file. The tag is S for skip-worktree, and lower case for
// assume-unchanged.
func ParseLsFiles(out string) ([]repo.Entry, error) {
	entries := make([]repo.Entry, 0, strings.Count(out, "\x00"))
	prevStage := 0
	for len(out) > 0 {
		item, rest, ok := strings.Cut(out, "\x00")
		if !ok {
			return nil, errors.New("git ls-files: truncated output")
		}
		e, stage, err := parseLsFile(item)
		if err != nil {
			return nil, err
		}
		if out, err = parseStat(rest, &e); err != nil {
			return nil, err
		}
		if n := len(entries); n > 0 {
			last := &entries[n-1]
			switch {
			case last.Path == e.Path && stage > prevStage && prevStage > 0:
				if stage == 2 {
					last.Mode = e.Mode
				}
				prevStage = stage
				continue
			case last.Path >= e.Path:
				return nil, fmt.Errorf("git ls-files: %s is out of order", e.Path)
			}
		}
		prevStage = stage
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
		return repo.Entry{}, 0, fmt.Errorf("git ls-files: %s is not a valid path", repo.Path(path))
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

// parseStat parses the five lines that --debug prints for an entry, and returns the text after
// them. Git may change their form, so an unreadable value leaves the stat zero. A zero stat proves
// nothing, and ken reads the file.
func parseStat(text string, e *repo.Entry) (rest string, err error) {
	var value [5]string
	for i, name := range []string{"ctime", "mtime", "dev", "uid", "size"} {
		line, after, ok := strings.Cut(text, "\n")
		key, v, hasColon := strings.Cut(strings.TrimLeft(line, " "), ": ")
		if !ok || !hasColon || key != name {
			return "", fmt.Errorf("git ls-files: no %s of %s in the output", name, e.Path)
		}
		value[i], text = v, after
	}
	var stat repo.Stat
	stat.Ctime = nanoseconds(value[0])
	stat.Mtime = nanoseconds(value[1])
	_, inode, _ := strings.Cut(value[2], "\tino: ")
	size, flags, _ := strings.Cut(value[4], "\tflags: ")
	n, errInode := strconv.ParseUint(inode, 10, 64)
	stat.Inode = n
	stat.Size, err = strconv.ParseInt(size, 10, 64)
	bits, errFlags := strconv.ParseUint(flags, 16, 64)
	const intentToAdd = 1 << 29 // CE_INTENT_TO_ADD
	if bits&intentToAdd != 0 {
		e.Flags |= repo.IntentToAdd
	}
	if errInode == nil && err == nil && errFlags == nil && !e.Flags.Has(repo.Conflicted) {
		e.Stat = stat
	}
	return text, nil
}

// nanoseconds parses "seconds:nanoseconds". It returns 0 for anything else.
func nanoseconds(s string) int64 {
	sec, ns, _ := strings.Cut(s, ":")
	a, errA := strconv.ParseInt(sec, 10, 64)
	b, errB := strconv.ParseInt(ns, 10, 64)
	if errA != nil || errB != nil || a < 0 || a > 1<<33 || b < 0 || b >= 1e9 {
		return 0
	}
	return a*1e9 + b
}

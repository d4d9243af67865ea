package describe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"ken/internal/model"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/survey/excerpt"
)

// Limits of the tools.
const (
	shownFileBytes = 32 << 10 // bytes of one file that read_file returns
	searchFiles    = 2000     // most files of one search
	searchHits     = 60
	searchBytes    = 256 << 10 // largest file that search reads
	listEntries    = 400
	hitBytes       = 200
	maxFlags       = 20
	maxShown       = 256 << 10 // bytes of all tool results for one directory
)

// tools returns the tools of a model. None of them changes the tree.
func tools() []model.Tool {
	return []model.Tool{
		{Name: "read_file", Description: "Read a tracked file, starting at a line.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"from the repository's root"},"from_line":{"type":"integer","minimum":1}},"required":["path"]}`)},
		{Name: "list_directory", Description: "List the tracked files and directories of a directory.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"from the repository's root; . is the root"}},"required":["path"]}`)},
		{Name: "search", Description: "Search tracked files with a regular expression (RE2).", Schema: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string"},"within":{"type":"string","description":"a directory; the whole repository if left out"}},"required":["pattern"]}`)},
		{Name: "outline", Description: "List the declarations of a file.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		{Name: "flag", Description: "Report a finding that a person should check.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"finding":{"type":"string"},"severity":{"type":"string","enum":["info","concern","critical"]}},"required":["path","finding","severity"]}`)},
		{Name: "submit", Description: "Submit the summary of the directory. Submit the word keep if the present summary is still right.", Schema: json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string","description":"at most 200 words"},"files":{"type":"object","additionalProperties":{"type":"string"},"description":"by name of the directory's own files: what each is for, in one or two sentences"},"completeness":{"type":"string","enum":["complete","partial"]}},"required":["summary"]}`)},
	}
}

// submitArgs are the arguments of submit. Other arguments are ignored.
type submitArgs struct {
	Summary      string            `json:"summary"`
	Files        map[string]string `json:"files"`
	Completeness string            `json:"completeness"`
}

// call runs one tool call. An error is the result that the model gets, so that it can correct the call.
func (s *session) call(ctx context.Context, c model.Call) (string, error) {
	if c.Err != nil {
		return "", c.Err
	}
	var in struct {
		submitArgs
		Path, Pattern, Within, Finding, Severity string
		FromLine                                 int `json:"from_line"`
	}
	if err := json.Unmarshal(c.Args, &in); err != nil {
		return "", fmt.Errorf("arguments of %s: %w", c.Name, err)
	}
	if s.shown > maxShown && c.Name != "submit" && c.Name != "flag" {
		return "", errors.New("limit for one directory reached: call submit with your text now")
	}
	switch c.Name {
	case "read_file":
		return s.readFile(ctx, in.Path, in.FromLine)
	case "list_directory":
		return s.list(ctx, in.Path)
	case "search":
		return s.search(ctx, in.Pattern, in.Within)
	case "outline":
		f, err := s.find(ctx, in.Path)
		if err != nil {
			return "", err
		}
		o, err := s.Tree.Outlines(ctx, []*repo.File{f})
		if err != nil {
			return "", err
		}
		if o[0].Err != nil {
			return "", o[0].Err
		}
		if o[0].Outline == nil {
			return "", errors.New("no outline for this file: use read_file")
		}
		return Fence(strings.Join(outlineText(o[0].Outline, listEntries), "\n")), nil
	case "flag":
		return s.flag(ctx, in.Path, in.Finding, in.Severity)
	case "submit":
		if s.done {
			return "", errors.New("you submitted a text already")
		}
		if in.Path != "" && dirOf(in.Path) != s.item.Path {
			return "", fmt.Errorf("your directory is %s: submit a summary of that one", repo.DirLabel(s.item.Path))
		}
		if s.refused = s.submit(in.submitArgs); s.refused != nil {
			return "", s.refused
		}
		return "submitted", nil
	}
	return "", fmt.Errorf("unknown tool %q", c.Name)
}

// dirOf cleans a path as models write it. The root is "".
func dirOf(name string) repo.Path {
	if name = path.Clean(name); name == "." {
		return ""
	}
	return repo.Path(name)
}

// find returns a tracked text file. The model cannot read anything else.
func (s *session) find(ctx context.Context, name string) (*repo.File, error) {
	files, err := s.Tree.Files(ctx)
	if err != nil {
		return nil, err
	}
	p := dirOf(name)
	i, ok := slices.BinarySearchFunc(files, p, func(f repo.File, p repo.Path) int { return strings.Compare(string(f.Path), string(p)) })
	if !ok {
		return nil, fmt.Errorf("no tracked file %q", name)
	}
	f := &files[i]
	switch {
	case f.Kind == repo.KindSymlink || f.Kind == repo.KindGitlink || f.Kind == repo.KindBinary || f.Kind == repo.KindLFS:
		return nil, fmt.Errorf("%s is not a text file (%s)", f.Path, f.Kind)
	case f.Problem != "":
		return nil, fmt.Errorf("%s: %s", f.Path, f.Problem)
	}
	return f, nil
}

// maxRead is the size of the largest file that ken reads for a model.
const maxRead = 16 << 20

// readFile returns the content of a file from a line on.
func (s *session) readFile(ctx context.Context, name string, from int) (string, error) {
	f, err := s.find(ctx, name)
	if err != nil {
		return "", err
	}
	if f.Size > maxRead {
		return "", fmt.Errorf("%s is too large to read: %d bytes", f.Path, f.Size)
	}
	b, err := s.Tree.Read(ctx, f, maxRead)
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(b, 0) >= 0 {
		return "", fmt.Errorf("%s is not a text file", f.Path)
	}
	for line := 1; line < from; line++ {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			return "", fmt.Errorf("%s has %d lines", f.Path, line)
		}
		b = b[i+1:]
	}
	text := excerpt.Clean(string(b[:min(len(b), shownFileBytes)]))
	if len(b) > shownFileBytes {
		text += fmt.Sprintf("\n(cut here: %d more bytes)", len(b)-shownFileBytes)
	}
	return Fence(text), nil
}

// list returns the entries of a directory.
func (s *session) list(ctx context.Context, name string) (string, error) {
	files, err := s.Tree.Files(ctx)
	if err != nil {
		return "", err
	}
	dir := dirOf(name)
	var lines []string
	seen := make(map[string]bool)
	for _, f := range files {
		if !f.Path.Under(dir) || f.Path == dir {
			continue
		}
		rest := strings.TrimPrefix(strings.TrimPrefix(string(f.Path), string(dir)), "/")
		line := fmt.Sprintf("%s (%s, %d bytes)", repo.Path(rest), f.Kind, f.Size)
		if sub, _, deeper := strings.Cut(rest, "/"); deeper {
			line = repo.Path(sub).String() + "/"
		}
		if !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return "", fmt.Errorf("no directory with tracked files: %q", name)
	}
	if more := len(lines) - listEntries; more > 0 {
		lines = append(lines[:listEntries], fmt.Sprintf("and %d more", more))
	}
	return Fence(strings.Join(lines, "\n")), nil
}

// search returns the lines that match a regular expression.
func (s *session) search(ctx context.Context, pattern, within string) (string, error) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		return "", err
	}
	files, err := s.Tree.Files(ctx)
	if err != nil {
		return "", err
	}
	dir := dirOf(within)
	var hits []string
	searched := 0
	for i := range files {
		f := &files[i]
		if f.Excluded != "" || f.Problem != "" || f.Size > searchBytes || !f.Path.Under(dir) {
			continue
		}
		if searched++; searched > searchFiles || len(hits) >= searchHits {
			hits = append(hits, "(there may be more)")
			break
		}
		b, err := s.Tree.Read(ctx, f, searchBytes)
		if err != nil || bytes.IndexByte(b, 0) >= 0 {
			continue
		}
		n := 0
		for line := range bytes.Lines(b) {
			if n++; re.Match(line) && len(hits) < searchHits {
				hits = append(hits, fmt.Sprintf("%s:%d: %s", f.Path, n, excerpt.Cut(excerpt.Clean(string(line)), hitBytes)))
			}
		}
	}
	if len(hits) == 0 {
		return "no line matches", nil
	}
	return Fence(strings.Join(hits, "\n")), nil
}

// flag records a finding about a file.
func (s *session) flag(ctx context.Context, name, finding, severity string) (string, error) {
	f, err := s.find(ctx, name)
	if err != nil {
		return "", err
	}
	switch {
	case len(s.draft.Flags) >= maxFlags:
		return "", errors.New("too many findings for one directory")
	case !slices.Contains(Severities, severity):
		return "", fmt.Errorf("unknown severity %q (valid: %s)", severity, strings.Join(Severities, ", "))
	case CheckText(finding) != nil:
		return "", fmt.Errorf("finding: %w", CheckText(finding))
	}
	s.draft.Flags = append(s.draft.Flags, store.DirFlag{Path: f.Path, Severity: severity, Finding: excerpt.Cut(finding, 500), Content: f.ID})
	return "noted", nil
}

package board

import (
	"context"
	"strings"
	"unicode/utf8"

	"ken/internal/fresh"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
)

// files reads the verdicts of all files. It records no check, so that a board does not change the result of the
// next session.
func (s *Source) files(ctx context.Context) (*Files, error) {
	rep, sizes, err := s.Files(ctx)
	if err != nil {
		return nil, err
	}
	f := &Files{
		State: rep.State, Reasons: append([]registry.Reason{}, rep.Reasons...), LastVerified: rep.LastVerified,
		Upstream: rep.Upstream, Counts: rep.Counts,
	}
	for i := range rep.Verdicts {
		v := &rep.Verdicts[i]
		switch {
		case v.Content.Reason == fresh.NotCheckedOut && v.Summary == fresh.Unknown: // a partial clone may lack most contents
		case v.Content.State == fresh.Unknown || v.Summary == fresh.Unknown:
			f.Unknown = append(f.Unknown, *v)
		case v.Summary == fresh.Stale || v.Lost():
			f.Stale = append(f.Stale, *v)
		default: // it needs no attention
		}
		if size, tracked := sizes[v.RawPath()]; tracked {
			f.Bytes += size
			f.MapFiles = append(f.MapFiles, MapFile{v.RawPath(), size, v.Content, v.Summary, v.Grade, v.Reason})
		}
	}
	if s.RenamedFrom != nil {
		f.RenamedFrom = part("files", func() (*map[repo.Path]repo.Path, error) {
			from, err := s.RenamedFrom(ctx, f.stalePaths())
			return &from, err
		})
	}
	return f, nil
}

// stalePaths returns the paths of the first files with a stale summary.
func (f *Files) stalePaths() []repo.Path {
	first := f.Stale[:min(len(f.Stale), maxChanges)]
	paths := make([]repo.Path, len(first))
	for i := range first {
		paths[i] = first[i].RawPath()
	}
	return paths
}

// survey reads the directories and adds up the files below them.
func (s *Source) survey(ctx context.Context, files *Files) (*Survey, error) {
	shown, err := s.Directories(ctx)
	if err != nil {
		return nil, err
	}
	type weight struct {
		files int
		bytes int64
	}
	below := make(map[repo.Path]weight)
	if files != nil {
		for _, l := range files.MapFiles {
			for dir := l.Path.Dir(); ; dir = dir.Dir() {
				w := below[dir]
				below[dir] = weight{w.files + 1, w.bytes + l.Size}
				if dir == "" {
					break
				}
			}
		}
	}
	out := &Survey{
		Counts:      make(map[string]int),
		Summaries:   shown.Summaries,
		Directories: make([]Directory, 0, len(shown.Directories)),
	}
	for i := range shown.Directories {
		d := &shown.Directories[i]
		raw, err := d.Raw()
		if err != nil {
			return nil, err
		}
		if raw == "." {
			raw = ""
		}
		out.Counts[d.Verdict.String()]++
		out.Tally.add(d)
		n := Directory{
			PathJSON: d.PathJSON, Verdict: d.Verdict, Reasons: d.Reasons, ChangedChildren: d.ChangedChildren, Children: d.CountedChildren, Outline: d.Outline,
			Files: below[raw].files, Bytes: below[raw].bytes, Line: firstLine(describe.Headline(d.TextOrEmpty())), Raw: raw, Text: d.TextOrEmpty(),
		}
		if d.Author != nil {
			n.Author = *d.Author
		}
		out.Directories = append(out.Directories, n)
	}
	return out, nil
}

// add counts a directory.
func (t *Tally) add(d *survey.ListedDir) {
	if d.Verdict.State == fresh.Excluded {
		return
	}
	t.Total++
	if d.TextOrEmpty() != "" {
		t.Described++
	}
	switch d.Verdict.State {
	case fresh.Fresh:
		t.Hold++
		if d.Outline {
			t.Outlines++
		}
	case fresh.Unknown:
		if d.TextOrEmpty() != "" {
			t.Unknown++
		}
	default: // no text, or a stale one
	}
}

// lineLength is the length of Directory.Line in bytes.
const lineLength = 160

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if len(line) <= lineLength {
		return line
	}
	line = line[:lineLength]
	for !utf8.ValidString(line) && len(line) > lineLength-utf8.UTFMax {
		line = line[:len(line)-1]
	}
	return strings.ToValidUTF8(line, "\uFFFD") + "…"
}

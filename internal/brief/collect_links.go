package brief

import (
	"context"
	"path"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
	"ken/internal/survey/describe"
)

// maxLinks is how many links are followed from one to the next.
const maxLinks = 5

// linkTarget returns the path that a symbolic link leads to, and the text of the link. The
// path is "" if it leads out of the repository or to nothing that git tracks.
func (r *collector) linkTarget(ctx context.Context, link *repo.File) (target repo.Path, text string) {
	at := link
	for range maxLinks {
		content := ""
		err := r.Workspace.Git.EachBlob(ctx, []repo.ID{at.ID}, func(_ int, b []byte, _ int64) { content = string(b) })
		if err != nil || content == "" {
			return "", text
		}
		if text == "" {
			text = content
		}
		joined := path.Join(string(at.Path.Dir()), content)
		outside := path.IsAbs(content) || joined == ".." || strings.HasPrefix(joined, "../")
		target = repo.Path(joined)
		next := r.t.Listed(target)
		switch {
		case outside:
			return "", text
		case next == nil && len(r.below(target)) > 0:
			return target, text
		case next == nil:
			return "", text
		case next.Kind != repo.KindSymlink:
			return target, text
		}
		at = next
	}
	return "", text
}

// read returns the content of a file, or of the file that a link leads to; nil if it cannot
// be read.
func (r *collector) read(ctx context.Context, p repo.Path) []byte {
	f := r.t.Listed(p)
	if f != nil && f.Kind == repo.KindSymlink {
		if p, _ = r.linkTarget(ctx, f); p == "" {
			return nil
		}
	}
	return r.t.Read(ctx, p)
}

// link returns the brief of what a link leads to, with a line about the link first.
func (r *collector) link(ctx context.Context, f *repo.File, budget int) (*Brief, error) {
	target, text := r.linkTarget(ctx, f)
	if target == "" {
		about := "a symbolic link, whose target ken cannot read"
		if text != "" {
			about = "a symbolic link to " + repo.Path(text).String() + ", which is no tracked file or directory"
		}
		return Link(f.Path, Section{Subject: f.Path.String(), Verdict: fresh.Unknown.String(), Text: about}), nil
	}
	said := Section{Subject: f.Path.String(), Verdict: fresh.Fresh.String(), Text: "a symbolic link to " + repo.DirLabel(target).String() + ", which this brief is about"}
	return r.briefOf(ctx, target, budget, said)
}

// linkedReadme returns what a README says that is a link to a file elsewhere in the repository.
func (r *collector) linkedReadme(ctx context.Context, d *survey.Directory) string {
	for _, p := range r.below(d.Path) {
		stem, _, _ := strings.Cut(strings.ToLower(p.Base()), ".")
		if p.Dir() != d.Path || r.kind(p) != repo.KindSymlink || stem != "readme" {
			continue
		}
		if text := describe.ReadmeLead(p, string(r.read(ctx, p))); text != "" {
			return text
		}
	}
	return ""
}

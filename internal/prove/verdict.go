package prove

import (
	"fmt"
	"strconv"

	"ken/internal/english"
)

// SetVerdict sets the sentences of a report.
func (r *Report) SetVerdict() {
	r.Verdict = []string{}
	if r.Commits.Replayed == 0 {
		return
	}
	r.Verdict = append(r.Verdict, r.foundSentence(), r.lifetimeSentence(), r.briefSentence())
}

func (r *Report) foundSentence() string {
	f := r.Find
	if f == nil {
		return "Unknown: whether ken find would have found the files that these commits changed."
	}
	if f.Commits == 0 {
		return "No commit could be used to ask whether ken find would have found the files that it changed."
	}
	return fmt.Sprintf("Given the subject of a commit, ken find would have named %d%% of the files that the commit changed among its first ten; "+
		"a plain text search %d%%.", percent(f.Ken.Files, f.Files), percent(f.Text.Files, f.Files))
}

func (r *Report) lifetimeSentence() string {
	l := r.Lifetimes
	var parts []string
	for _, part := range []struct {
		of   Lifetime
		name string
	}{{l.Files, "file summaries"}, {l.Directories, "directory summaries"}, {l.Mentions, "paths in documents"}} {
		if part.of.FreshPercent != nil {
			parts = append(parts, fmt.Sprintf("%d%% of %s", *part.of.FreshPercent, part.name))
		}
	}
	if len(parts) == 0 {
		return "There was nothing to summarize in these commits."
	}
	return fmt.Sprintf("After %s, %s still hold.", english.Count(len(r.History), "commit"), english.And(parts))
}

func (r *Report) briefSentence() string {
	b := r.Briefs
	switch {
	case b == nil:
		return "Unknown: how large a brief is beside the files that it stands for."
	case b.Directories.Brief == 0 || b.Directories.Contents == 0:
		return "These commits touched no directory that a brief could be measured for."
	}
	d := b.Directories
	if d.Contents <= d.Brief {
		return fmt.Sprintf("The brief of a directory is no shorter than the files in it: %s tokens for %s.", FormatThousands(d.Brief), FormatThousands(d.Contents))
	}
	return fmt.Sprintf("The brief of a directory has %s tokens, the files in it %s: %s times as many.",
		FormatThousands(d.Brief), FormatThousands(d.Contents), FormatThousands(d.Contents/d.Brief))
}

// FormatThousands formats a number with commas between thousands.
func FormatThousands(n int64) string {
	if n < 0 {
		return "-" + FormatThousands(-n)
	}
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func percent(part, of int) int {
	if of == 0 {
		return 0
	}
	return (100*part + of/2) / of
}

// method explains in one paragraph how the figures are computed and what they leave open.
func method() string {
	return fmt.Sprintf("Find: ken takes up to %d of these commits, evenly spread, that changed one to %d existing code files and have a subject of %d words or more, "+
		"without releases and reverts. It asks with the subject alone, on the tree and the history before the commit; of a merge, with the subject of the commit that was merged. "+
		"The plain text search ranks files by the same words in their contents (BM25). "+
		"A subject is written after the change and shares its words, so compare the two figures. "+
		"Lasting: every file and directory that policy admits gets a summary before the first of these commits, or when it is added; ken follows it to the commit that makes it stale (Kaplan and Meier). After each commit the stale summaries are written again. "+
		"A directory also counts as stale if only a summary below it was written again, which is an upper bound. "+
		"Of documents, ken follows the paths that they mention, not symbols and commands. "+
		"Briefs: medians over files that the sampled commits changed and over their directories, as they are now, at 4 bytes per token. "+
		"None of this tells whether an agent reads less: a brief may not answer its question.",
		SampledTasks, taskFiles, taskWords)
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// findCommits is how many commits are asked about in each repository, unless -commits
// says otherwise.
const findCommits = 100

// A task is a question with the files that answer it.
type task struct {
	query string
	want  []string
}

// findStudy asks, for commits of the last while, which files they changed. Engines get the
// subject of the commit, and the tree and the history from before all these commits.
func (b *bench) findStudy(ctx context.Context) (string, error) {
	if len(b.repos) == 0 {
		return "", errors.New("-run find needs a repository: -repo DIR")
	}
	engines, err := b.chosenEngines(ctx, "ken", "bm25", "grep", "ctags", "codegraph")
	if err != nil {
		return "", err
	}
	earlier, err := readAnswers(b.study.earlier)
	if err != nil {
		return "", err
	}
	var sections []section
	scores := make(map[string]map[string]score) // by repository and engine
	for _, repo := range b.repos {
		name := repoName(repo)
		t, tasks, err := b.findTasks(ctx, repo)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		scores[name] = make(map[string]score)
		for _, e := range engines {
			s, known := earlier.score(name, e.name, tasks)
			if !known {
				if s, err = b.ask(ctx, name, e, t, tasks); err != nil {
					return "", fmt.Errorf("%s, %s: %w", name, e.name, err)
				}
			}
			scores[name][e.name] = s
		}
		sections = append(sections, section{name, append([]string{name, t.commit, fmt.Sprint(len(tasks))}, findCells(engines, scores[name])...)})
		if err := os.RemoveAll(t.dir); err != nil {
			return "", err
		}
	}
	header := []string{"repository", "tree", "tasks"}
	for _, e := range engines {
		header = append(header, e.name)
	}
	if compared(scores[repoName(b.repos[0])]) {
		header = append(header, "ken closes BM25's gap by")
	}
	text, err := bothTables(header, sections, func(repos []string) []string {
		mean := make(map[string]score)
		for _, e := range engines {
			var sum score
			for _, repo := range repos {
				sum = sum.plus(scores[repo][e.name].mean())
			}
			mean[e.name] = sum
		}
		return append([]string{"mean", "", ""}, findCells(engines, mean)...)
	})
	return "Recall at 10 / mean reciprocal rank / first file right.\n\n" + text, err
}

// findCells returns what each engine reached, and how much of the way from BM25 to a
// perfect answer ken goes.
func findCells(engines []engine, scores map[string]score) []string {
	var cells []string
	for _, e := range engines {
		s := scores[e.name].mean()
		cells = append(cells, fmt.Sprintf("%.3f / %.3f / %.3f", s.recall, s.reciprocal, s.first))
	}
	if compared(scores) {
		k, s := scores["ken"].mean(), scores["bm25"].mean()
		cells = append(cells, gapClosed(k.recall, s.recall)+" / "+gapClosed(k.reciprocal, s.reciprocal))
	}
	return cells
}

// compared reports whether both ken and BM25 were asked.
func compared(scores map[string]score) bool {
	_, ken := scores["ken"]
	_, base := scores["bm25"]
	return ken && base
}

func gapClosed(now, before float64) string {
	if before >= 1 {
		return "none left"
	}
	return fmt.Sprintf("%.0f %%", 100*(now-before)/(1-before))
}

// ask puts all tasks to an engine.
func (b *bench) ask(ctx context.Context, repo string, e engine, t tree, tasks []task) (score, error) {
	start := time.Now()
	rank, err := e.prepare(b, ctx, t)
	if err != nil {
		return score{}, err
	}
	prepared := time.Since(start)
	var s score
	start = time.Now()
	for _, task := range tasks {
		got, err := rank(ctx, task.query)
		if err != nil {
			return score{}, err
		}
		s.add(got, task.want)
		if err := b.detail(answer{repo, e.name, task.query, task.want, got, firstRight(got, task.want)}); err != nil {
			return score{}, err
		}
	}
	asked := time.Since(start) / time.Duration(max(1, len(tasks)))
	m := s.mean()
	progress("%s, %s: %d tasks, recall at 10 %.3f, MRR %.3f, first right %.3f; prepared in %s ms, asked in %s ms",
		repo, e.name, len(tasks), m.recall, m.reciprocal, m.first, ms(prepared), ms(asked))
	return s, nil
}

// An answer is a line of -details.
type answer struct {
	Repo   string   `json:"repo"`
	Engine string   `json:"engine"`
	Query  string   `json:"query"`
	Want   []string `json:"want"`
	Got    []string `json:"got"`
	Rank   int      `json:"rank"` // of the first right file; 0 for none
}

// earlierAnswers are those of other runs, by repository, engine and query.
type earlierAnswers map[[3]string]answer

// readAnswers reads files that -details wrote.
func readAnswers(files string) (earlierAnswers, error) {
	earlier := make(earlierAnswers)
	for name := range strings.SplitSeq(files, ",") {
		if name == "" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for line := range bytes.Lines(text) {
			var a answer
			if err := json.Unmarshal(line, &a); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			earlier[[3]string{a.Repo, a.Engine, a.Query}] = a
		}
	}
	return earlier, nil
}

// score returns what an engine reached, if it was asked all these tasks before.
func (e earlierAnswers) score(repo, engine string, tasks []task) (s score, known bool) {
	for _, task := range tasks {
		a, asked := e[[3]string{repo, engine, task.query}]
		if !asked || !slices.Equal(a.Want, task.want) {
			return score{}, false
		}
		s.add(a.Got, task.want)
	}
	return s, true
}

// findTasks returns a tree of -back commits ago, and tasks from the commits since.
func (b *bench) findTasks(ctx context.Context, repo string) (tree, []task, error) {
	first, err := gitAnswer(ctx, repo, b.env, "rev-list", "--first-parent", "-n", fmt.Sprint(b.study.back+1), "HEAD")
	if err != nil {
		return tree{}, nil, err
	}
	commits := strings.Fields(first)
	base := commits[len(commits)-1]
	t, err := b.copyUntil(ctx, repo, base)
	if err != nil {
		return tree{}, nil, err
	}
	log, err := gitAnswer(ctx, repo, b.env, "log", "--no-merges", "--reverse", "-z", "--format=%x02%s",
		"--name-only", "--no-renames", "--diff-filter=MD", base+"..HEAD")
	if err != nil {
		return tree{}, nil, err
	}
	tasks := selectTasks(log, t.files, cmp.Or(b.commits, findCommits))
	if len(tasks) == 0 {
		return tree{}, nil, fmt.Errorf("no commit since %s can be asked about", t.commit)
	}
	return t, tasks, nil
}

var (
	releaseSubject = regexp.MustCompile(`(?i)^(chore\(release\)|release|bump|revert|v?[0-9]+\.[0-9]+)`)
	pullRequest    = regexp.MustCompile(`\(#[0-9]+\)`)
)

// selectTasks makes tasks of a log of commits. A commit counts if its subject has three
// words or more and is not about a release, and if it changed one to eight source files
// that were there before. Of more than the most that are wanted, an even selection counts.
func selectTasks(log string, files []string, most int) []task {
	there := make(map[string]bool)
	for _, f := range files {
		there[f] = true
	}
	var tasks []task
	for commit := range strings.SplitSeq(log, "\x02") {
		fields := splitNul(commit)
		if len(fields) == 0 {
			continue
		}
		subject := strings.TrimSpace(fields[0])
		if releaseSubject.MatchString(subject) || len(splitWords(subject)) < 3 {
			continue
		}
		var want []string
		for _, f := range fields[1:] {
			f = strings.TrimPrefix(f, "\n")
			if there[f] && isSource(f) {
				want = append(want, f)
			}
		}
		if 1 <= len(want) && len(want) <= 8 {
			tasks = append(tasks, task{pullRequest.ReplaceAllString(subject, ""), want})
		}
	}
	step := max(1, len(tasks)/most)
	var selected []task
	for i := 0; i < len(tasks) && len(selected) < most; i += step {
		selected = append(selected, tasks[i])
	}
	return selected
}

// A score adds up how well an engine did over tasks.
type score struct {
	tasks      int
	recall     float64 // share of the right files among the first ten
	reciprocal float64 // 1 / rank of the first right file
	first      float64 // tasks whose first file is right
	third      float64 // tasks with a right file among the first three
	tenth      float64 // the same among the first ten
}

func (s *score) add(got, want []string) {
	s.tasks++
	found := 0
	for _, f := range want {
		if slices.Contains(got, f) {
			found++
		}
	}
	s.recall += float64(found) / float64(len(want))
	rank := firstRight(got, want)
	if rank == 0 {
		return
	}
	s.reciprocal += 1 / float64(rank)
	s.tenth++
	if rank <= 3 {
		s.third++
	}
	if rank == 1 {
		s.first++
	}
}

// plus returns the two added up.
func (s score) plus(o score) score {
	return score{
		s.tasks + o.tasks, s.recall + o.recall, s.reciprocal + o.reciprocal, s.first + o.first, s.third + o.third, s.tenth + o.tenth,
	}
}

// mean returns a score of one task: what the average task reached.
func (s score) mean() score {
	n := float64(max(1, s.tasks))
	return score{min(1, s.tasks), s.recall / n, s.reciprocal / n, s.first / n, s.third / n, s.tenth / n}
}

// firstRight returns the rank of the first right file, from 1, or 0 if none is right.
func firstRight(got, want []string) int {
	return 1 + slices.IndexFunc(got, func(f string) bool { return slices.Contains(want, f) })
}

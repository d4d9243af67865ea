package main

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A task is a question with the files that answer it.
type task struct {
	query string
	want  []string
}

// find asks, for commits of the last while, which files they changed. Engines get the subject of the commit, and the
// tree and the history from before all these commits. With -questions, it asks questions of people about HEAD.
func (st *study) find(ctx context.Context) (string, error) {
	var questions []question
	engineNames := "ken,bm25,grep,ctags,codegraph"
	if st.questions != "" {
		var err error
		if questions, err = readQuestions(st.questions); err != nil {
			return "", err
		}
		engineNames = "ken,bm25,grep"
	}
	engines, err := st.chosenEngines(ctx, engineNames)
	if err != nil {
		return "", err
	}
	var sections []section
	scores := make(map[string]map[string]score) // by repository and engine
	for _, repo := range st.repos {
		name := repoName(repo)
		var t tree
		var tasks []task
		if questions != nil {
			t, tasks, err = st.questionTasks(ctx, repo, questions)
		} else {
			t, tasks, err = st.commitTasks(ctx, repo)
		}
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		scores[name] = make(map[string]score)
		for _, e := range engines {
			s, err := st.ask(ctx, name, e, t, tasks)
			if err != nil {
				return "", fmt.Errorf("%s, %s: %w", name, e.name, err)
			}
			scores[name][e.name] = s
		}
		cells := []string{name, t.commit, fmt.Sprint(len(tasks))}
		sections = append(sections, section{name, append(cells, st.findCells(engines, scores[name])...)})
		if err := os.RemoveAll(t.dir); err != nil {
			return "", err
		}
	}
	header := []string{"repository", "tree", "tasks"}
	for _, e := range engines {
		header = append(header, e.name)
	}
	if st.compared(scores[repoName(st.repos[0])]) {
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
		return append([]string{"mean", "", ""}, st.findCells(engines, mean)...)
	})
	if st.questions != "" {
		return "A right file first / among three / among ten / mean reciprocal rank.\n\n" + text, err
	}
	return "Recall at 10 / mean reciprocal rank / first file right.\n\n" + text, err
}

// findCells returns what each engine reached, and how much of the way from BM25 to a
// perfect answer ken goes.
func (st *study) findCells(engines []engine, scores map[string]score) []string {
	var cells []string
	for _, e := range engines {
		s := scores[e.name].mean()
		if st.questions != "" {
			cells = append(cells, fmt.Sprintf("%.2f / %.2f / %.2f / %.3f", s.first, s.third, s.tenth, s.reciprocal))
			continue
		}
		cells = append(cells, fmt.Sprintf("%.3f / %.3f / %.3f", s.recall, s.reciprocal, s.first))
	}
	if st.compared(scores) {
		own := scores["ken"].mean()
		base := scores["bm25"].mean()
		cells = append(cells, gapClosed(own.recall, base.recall)+" / "+gapClosed(own.reciprocal, base.reciprocal))
	}
	return cells
}

// compared reports whether both ken and BM25 were asked about commits.
func (st *study) compared(scores map[string]score) bool {
	_, ken := scores["ken"]
	_, base := scores["bm25"]
	return ken && base && st.questions == ""
}

func gapClosed(now, before float64) string {
	if before >= 1 {
		return "none left"
	}
	return fmt.Sprintf("%.0f %%", 100*(now-before)/(1-before))
}

// ask puts all tasks to an engine.
func (st *study) ask(ctx context.Context, repo string, e engine, t tree, tasks []task) (score, error) {
	start := time.Now()
	rank, err := e.prepare(st, ctx, t)
	if err != nil {
		return score{}, err
	}
	prepared := time.Since(start)
	var s score
	start = time.Now()
	for _, task := range tasks {
		query := task.query
		if st.questions != "" && e.name != "ken" {
			query = withoutAskingWords(query)
		}
		got, err := rank(ctx, query)
		if err != nil {
			return score{}, err
		}
		s.add(got, task.want)
		if err := st.detail(answer{repo, e.name, task.query, task.want, got, firstRight(got, task.want)}); err != nil {
			return score{}, err
		}
	}
	asked := time.Since(start) / time.Duration(max(1, len(tasks)))
	m := s.mean()
	progress("%s, %s: %d tasks, recall at 10 %.3f, MRR %.3f, first right %.3f; prepared in %v, asked in %v",
		repo, e.name, len(tasks), m.recall, m.reciprocal, m.first, prepared.Round(time.Millisecond), asked.Round(time.Millisecond))
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

// commitTasks returns a tree of -back commits ago, and tasks from the commits since.
func (st *study) commitTasks(ctx context.Context, repo string) (tree, []task, error) {
	first, err := st.git(ctx, repo, "rev-list", "--first-parent", "-n", fmt.Sprint(st.back+1), "HEAD")
	if err != nil {
		return tree{}, nil, err
	}
	commits := strings.Fields(first)
	base := commits[len(commits)-1]
	t, err := st.copyUntil(ctx, repo, base)
	if err != nil {
		return tree{}, nil, err
	}
	log, err := st.git(ctx, repo, "log", "--no-merges", "--reverse", "-z", "--format=%x02%s",
		"--name-only", "--no-renames", "--diff-filter=MD", base+"..HEAD")
	if err != nil {
		return tree{}, nil, err
	}
	tasks := selectTasks(log, t.files, st.commits)
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

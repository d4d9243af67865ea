package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A question asks where something is, and names the files that are right answers.
type question struct {
	Repo     string   `json:"repo"`
	Question string   `json:"question"`
	Answers  []string `json:"answers"`
}

// whereStudy puts questions of people to engines, about HEAD of each repository.
func (b *bench) whereStudy(ctx context.Context) (string, error) {
	questions, err := readQuestions(b.study.questions)
	if err != nil {
		return "", err
	}
	engines, err := b.chosenEngines(ctx, "ken", "bm25", "grep")
	if err != nil {
		return "", err
	}
	var repos []string
	for _, q := range questions {
		repos = append(repos, q.Repo)
	}
	var sections []section
	scores := make(map[string]map[string]score) // by repository and engine
	lines := [][]string{{"repository", "question"}}
	for _, e := range engines {
		lines[0] = append(lines[0], e.name)
	}
	for _, repo := range distinct(repos) {
		progress("%s", repo)
		t, err := b.clone(ctx, filepath.Join(b.study.dir, repo), "HEAD")
		if err != nil {
			return "", fmt.Errorf("%s: %w", repo, err)
		}
		asked := slices.DeleteFunc(slices.Clone(questions), func(q question) bool { return q.Repo != repo })
		if err := mustExist(asked, t); err != nil {
			return "", err
		}
		scores[repo] = make(map[string]score)
		ranks := make([][]string, len(asked))
		for _, e := range engines {
			var s score
			rank, err := e.prepare(b, ctx, t)
			if err != nil {
				return "", fmt.Errorf("%s, %s: %w", repo, e.name, err)
			}
			for i, q := range asked {
				got, err := rank(ctx, wordingFor(e.name, q.Question))
				if err != nil {
					return "", fmt.Errorf("%s, %s: %w", repo, e.name, err)
				}
				s.add(got, q.Answers)
				first := firstRight(got, q.Answers)
				ranks[i] = append(ranks[i], rankCell(first))
				if err := b.detail(answer{repo, e.name, q.Question, q.Answers, got, first}); err != nil {
					return "", err
				}
			}
			scores[repo][e.name] = s
		}
		for i, q := range asked {
			lines = append(lines, append([]string{repo, strings.ReplaceAll(q.Question, "|", `\|`)}, ranks[i]...))
		}
		sections = append(sections, section{repo, append([]string{repo, t.commit, fmt.Sprint(len(asked))}, whereCells(engines, scores[repo])...)})
		if err := os.RemoveAll(t.dir); err != nil {
			return "", err
		}
	}
	text, err := bothTables(append([]string{"repository", "tree", "questions"}, lines[0][2:]...), sections, func(repos []string) []string {
		all := make(map[string]score)
		for _, e := range engines {
			for _, repo := range repos {
				all[e.name] = all[e.name].plus(scores[repo][e.name])
			}
		}
		return append([]string{"all questions", "", fmt.Sprint(all[engines[0].name].tasks)}, whereCells(engines, all)...)
	})
	if err != nil {
		return "", err
	}
	var out strings.Builder
	fmt.Fprintf(&out, "A right file first / among the first 3 / among the first 10 / mean reciprocal rank.\n\n%s\nRank of the first right file, – if none of the first ten is right:\n\n", text)
	err = printMarkdown(&out, lines)
	return out.String(), err
}

func whereCells(engines []engine, scores map[string]score) []string {
	var cells []string
	for _, e := range engines {
		s := scores[e.name].mean()
		cells = append(cells, fmt.Sprintf("%.2f / %.2f / %.2f / %.3f", s.first, s.third, s.tenth, s.reciprocal))
	}
	return cells
}

func rankCell(rank int) string {
	if rank == 0 {
		return "–"
	}
	return fmt.Sprint(rank)
}

// readQuestions reads a file of questions, each with a repository and answers.
func readQuestions(name string) ([]question, error) {
	if name == "" {
		return nil, errors.New("-run where needs questions: -questions FILE -repos DIR")
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var questions []question
	if err := json.Unmarshal(text, &questions); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, q := range questions {
		if q.Repo == "" || q.Question == "" || len(q.Answers) == 0 {
			return nil, fmt.Errorf("%s: question %d needs repo, question and answers", name, i+1)
		}
	}
	if len(questions) == 0 {
		return nil, fmt.Errorf("%s has no questions", name)
	}
	return questions, nil
}

// mustExist makes sure that every answer is a file which all engines can name.
func mustExist(questions []question, t tree) error {
	for _, q := range questions {
		for _, answer := range q.Answers {
			if !slices.Contains(t.files, answer) || !isSource(answer) {
				return fmt.Errorf("%s: %q is no source file of the tree, but an answer to %q", q.Repo, answer, q.Question)
			}
		}
	}
	return nil
}

// askingWords make a question of words to search for.
var askingWords = strings.Fields("where what which who how why when does do did is are was were can there")

// wordingFor returns the question as ken gets it, or for other engines without the words
// that only make it a question, since they are no search terms.
func wordingFor(engine, question string) string {
	if engine == "ken" {
		return question
	}
	words := strings.Fields(question)
	words = slices.DeleteFunc(words, func(w string) bool { return slices.Contains(askingWords, strings.ToLower(strings.Trim(w, "?,.'\""))) })
	return strings.Join(words, " ")
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

// A question asks where something is, and names the files that are right answers. Words are four to eight words of code
// for the same question.
type question struct {
	Repo     string   `json:"repo"`
	Question string   `json:"question"`
	Words    string   `json:"words"`
	Answers  []string `json:"answers"`
}

// questionTasks returns the tree of HEAD, and the questions about it, or their words with -words.
func (st *study) questionTasks(ctx context.Context, repo string, questions []question) (tree, []task, error) {
	t, err := st.clone(ctx, repo, "HEAD")
	if err != nil {
		return tree{}, nil, err
	}
	var tasks []task
	for _, q := range questions {
		if q.Repo != repoName(repo) {
			continue
		}
		if err := mustExist(q, t); err != nil {
			return tree{}, nil, err
		}
		query := q.Question
		if st.words {
			query = q.Words
		}
		tasks = append(tasks, task{query, q.Answers})
	}
	if len(tasks) == 0 {
		return tree{}, nil, fmt.Errorf("%s has no question about it", st.questions)
	}
	return t, tasks, nil
}

// readQuestions reads a file of questions, each with a repository and answers.
func readQuestions(name string) ([]question, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var questions []question
	if err := json.Unmarshal(text, &questions); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for i, q := range questions {
		complete := q.Repo != "" && q.Question != "" && q.Words != ""
		if !complete || len(q.Answers) == 0 {
			return nil, fmt.Errorf("%s: question %d needs repo, question, words and answers", name, i+1)
		}
	}
	if len(questions) == 0 {
		return nil, fmt.Errorf("%s has no questions", name)
	}
	return questions, nil
}

// mustExist makes sure that every answer is a file which all engines can name.
func mustExist(q question, t tree) error {
	for _, answer := range q.Answers {
		if !slices.Contains(t.files, answer) || !isSource(answer) {
			return fmt.Errorf("%q is no source file of the tree, but an answer to %q", answer, q.Question)
		}
	}
	return nil
}

// askingWords make a question of words to search for.
var askingWords = strings.Fields("where what which who how why when does do did is are was were can there")

// withoutAskingWords returns the words of a question that can be searched for.
func withoutAskingWords(question string) string {
	words := slices.DeleteFunc(strings.Fields(question), func(word string) bool {
		return slices.Contains(askingWords, strings.ToLower(strings.Trim(word, "?,.'\"")))
	})
	return strings.Join(words, " ")
}

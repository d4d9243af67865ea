package survey

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"ken/internal/cache"
	"ken/internal/fresh"
	"ken/internal/repo"
)

// A Cache stores answers about the directories of a work tree. It is only a cache: without it, the survey judges again.
type Cache struct {
	Answers *cache.Cache
	// Inputs identifies the files, the records and the policy as they are now. It returns "" if they cannot be
	// identified; then no answer is loaded or saved.
	Inputs func(context.Context) (string, error)
	// ReadOnly loads answers and saves none.
	ReadOnly bool
}

// cacheInputs identifies everything that answers about the tree depend on. It returns "" if that is unknown or
// there is no cache.
func (s *Survey) cacheInputs(ctx context.Context) (string, error) {
	if s.opts.Cache == nil {
		return "", nil
	}
	inputs, err := s.opts.Cache.Inputs(ctx)
	if err != nil || inputs == "" {
		return "", err
	}
	ranks := s.opts.Ranks
	if ranks == nil {
		ranks = map[repo.Path]Rank{} // %#v prints nil and an empty map differently
	}
	return fmt.Sprintf("%q %s %#v %#v %q", inputs, s.tree.Commit(), s.opts.Exclude, ranks, s.opts.StaleMentions), nil
}

// cacheKey returns the key of the answer to a question.
func (s *Survey) cacheKey(question, inputs string) *cache.Key {
	key := s.opts.Cache.Answers.Key("directories")
	fmt.Fprintf(key, "%q %q", question, inputs)
	return key
}

// loadAnswer reads the answer to a question that was saved for the present inputs.
func (s *Survey) loadAnswer(question, inputs string, answer any) bool {
	if inputs == "" {
		return false
	}
	stored, ok := s.opts.Cache.Answers.Load(s.cacheKey(question, inputs))
	return ok && json.Unmarshal(stored, answer) == nil
}

// saveAnswer saves an answer that was made from some inputs, unless they have changed since.
func (s *Survey) saveAnswer(ctx context.Context, question, inputs string, answer any) {
	if inputs == "" || s.opts.Cache.ReadOnly {
		return
	}
	now, err := s.cacheInputs(ctx)
	if err != nil || now != inputs {
		return
	}
	stored, err := json.Marshal(answer)
	whole := !bytes.Contains(stored, []byte(`\ufffd`)) // JSON replaces bytes that are not UTF-8 by this
	if err == nil && whole {
		s.opts.Cache.Answers.Save(s.cacheKey(question, inputs), stored)
	}
}

// cached returns the answer to a question about a tree status, from the cache if the inputs did not change. It does
// not save an answer that contains an unknown part.
func cached[T any](ctx context.Context, s *Survey, question string, judge func(context.Context) (*treeStatus, error), answer func(*treeStatus) T) (T, error) {
	var out T
	inputs, err := s.cacheInputs(ctx)
	if err != nil {
		return out, err
	}
	if s.loadAnswer(question, inputs, &out) {
		return out, nil
	}
	ts, err := judge(ctx)
	if err != nil {
		return out, err
	}
	out = answer(ts)
	if ts.certain() {
		s.saveAnswer(ctx, question, inputs, out)
	}
	return out, nil
}

// certain reports whether every verdict is known and depends only on files and records.
func (ts *treeStatus) certain() bool {
	if ts.uncertain {
		return false
	}
	for _, st := range ts.status {
		if st.Verdict.State == fresh.Unknown {
			return false
		}
	}
	return true
}

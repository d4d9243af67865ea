package describe

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// maxSummary is the most bytes of a summary by a model or an agent. The prompt asks for at most 200 words.
const maxSummary = 4 << 10

// CheckSummary checks a text that a model or an agent wrote. It must not be too long, a refusal, or a part of the
// prompt.
func CheckSummary(text string) error {
	if err := fresh.CheckText(text, maxSummary, repo.IsMisleading); err != nil {
		return err
	}
	if IsRefusal(text) {
		return errRefusalText
	}
	asked, _, _ := strings.Cut(Rules, "\n")
	if strings.Contains(text, asked) {
		return errors.New("the text repeats the prompt")
	}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == dataBegins || line == dataEnds {
			return fmt.Errorf("the text repeats a line of the prompt: %s", line)
		}
	}
	return nil
}

// errRefusalText says that a text is a refusal.
var errRefusalText = errors.New("the text is a refusal, not a summary")

// refusals are the first words of texts in which models refuse. No summary starts with them.
var refusals = []string{
	"i'm sorry", "i am sorry", "i apologize", "i apologise", "sorry,", "i cannot", "i can't", "i can not", "i won't", "i will not",
	"i'm unable", "i am unable", "i'm not able", "i am not able", "unfortunately, i ", "as an ai",
}

// IsRefusal reports whether a text is a refusal.
func IsRefusal(text string) bool {
	text = strings.ToLower(strings.ReplaceAll(strings.TrimSpace(text), "\u2019", "'"))
	return slices.ContainsFunc(refusals, func(words string) bool { return strings.HasPrefix(text, words) })
}

// CheckText checks any text about a directory.
func CheckText(text string) error { return fresh.CheckText(text, store.MaxText, repo.IsMisleading) }

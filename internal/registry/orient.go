package registry

import (
	"context"
	"fmt"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// An Orientation is what a session needs to know first: how far everything kept
// can be trusted, and as much of it as fits.
type Orientation struct {
	State        State    `json:"state"`
	Reasons      []Reason `json:"reasons"`
	Head         repo.ID  `json:"head"`
	LastVerified repo.ID  `json:"last_verified_sha"`
	Upstream     Upstream `json:"upstream"`
	Counts       Counts   `json:"counts"`
	Brief        string   `json:"brief"`
	Tokens       int      `json:"tokens"`    // of the brief, estimated
	LeftOut      int      `json:"left_out"`  // summaries that did not fit
	Truncated    bool     `json:"truncated"` // whether anything did not
}

// defaultBudget is how many tokens a brief has when nobody says.
const defaultBudget = 1500

// MinBudget is the least a brief can be asked to fit into.
const MinBudget = 50

// bytesPerToken is the usual rule of thumb; every figure made with it is
// labelled an estimate.
const bytesPerToken = 4

// Orient verifies when the entry state asks for it, and sums up what is known
// within a budget of tokens: first what does not hold, then a line of every
// summary that does.
func (r *Registry) Orient(ctx context.Context, budget int) (*Orientation, error) {
	return r.OrientWith(ctx, budget, nil)
}

// OrientWith is Orient with what others know, right after the headline: more returns
// whole lines, no longer than the bytes that it is given, which is half of what is left.
func (r *Registry) OrientWith(ctx context.Context, budget int, more func(most int) (string, error)) (*Orientation, error) {
	if budget == 0 {
		budget = defaultBudget
	}
	rep, err := r.Verify(ctx, VerifyOptions{All: true})
	if err != nil {
		return nil, err
	}
	out := &Orientation{
		State: rep.State, Reasons: rep.Reasons, Head: rep.Head, LastVerified: rep.LastVerified,
		Upstream: rep.Upstream, Counts: rep.Counts,
	}
	b := &brief{left: budget * bytesPerToken}
	b.line(rep.Headline())
	if more != nil && !b.full() {
		text, err := more(b.left / 2)
		if err != nil {
			return nil, err
		}
		b.WriteString(text)
		b.left -= len(text)
	}
	for _, state := range []fresh.State{fresh.Unknown, fresh.Stale, fresh.Fresh} {
		if err := r.summarise(ctx, b, rep, state); err != nil {
			return nil, err
		}
	}
	out.Brief, out.LeftOut, out.Truncated = b.String(), b.dropped, b.dropped > 0
	out.Tokens = (len(out.Brief) + bytesPerToken - 1) / bytesPerToken
	return out, nil
}

// Headline says in one line what was found.
func (rep *Report) Headline() string {
	c := rep.Counts
	where := "no commit yet"
	if !rep.Head.IsZero() {
		where = "at " + rep.Head.Short()
	}
	line := fmt.Sprintf("%s  %s  files %d, summaries: %d fresh, %d stale, %d none, %d excluded",
		rep.State, where, c.Files, c.Fresh, c.Stale, c.None, c.Excluded)
	if c.Unknown > 0 {
		line += fmt.Sprintf(", %d unknown", c.Unknown)
	}
	if len(rep.Reasons) > 0 {
		line += fmt.Sprintf(" (%s)", joinReasons(rep.Reasons))
	}
	return line
}

func joinReasons(reasons []Reason) string {
	words := make([]string, len(reasons))
	for i, r := range reasons {
		words[i] = string(r)
	}
	return strings.Join(words, ", ")
}

// summarise adds a line for each path whose summary is in the given state, for
// as long as there is room.
func (r *Registry) summarise(ctx context.Context, b *brief, rep *Report, state fresh.State) error {
	var paths []repo.Path
	for _, v := range rep.Verdicts {
		if v.Summary == state {
			paths = append(paths, v.path)
		}
	}
	const some = 256 // texts are only fetched while they may still fit
	for len(paths) > 0 && !b.full() {
		n := min(len(paths), some)
		known, err := r.Show(ctx, paths[:n])
		if err != nil {
			return err
		}
		for i, k := range known {
			b.line(fmt.Sprintf("%s  %s  %s", k.Verdict, paths[i], k.quotedGist()))
		}
		paths = paths[n:]
	}
	b.dropped += len(paths)
	return nil
}

// Gist is the first line of the text, behind what a reader should hear of it.
func (k *Knowledge) Gist() string {
	if notes := k.caveats(); len(notes) > 0 {
		return "(" + strings.Join(notes, ", ") + ") " + FirstLine(k.Text)
	}
	return FirstLine(k.Text)
}

// quotedGist is Gist for agents.
func (k *Knowledge) quotedGist() string {
	text := ""
	if k.Text != "" {
		text = repo.Quotation(FirstLine(k.Text))
	}
	if notes := k.Remarks(); len(notes) > 0 {
		return "(" + strings.Join(notes, ", ") + ") " + text
	}
	return text
}

// FirstLine is a text's first line, for lists.
func FirstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// A brief collects lines until its room is used up.
type brief struct {
	strings.Builder
	left    int // bytes
	dropped int // lines that did not fit
}

func (b *brief) full() bool { return b.dropped > 0 }

func (b *brief) line(s string) {
	if b.full() || len(s)+1 > b.left {
		b.dropped++
		return
	}
	b.left -= len(s) + 1
	b.WriteString(s)
	b.WriteByte('\n')
}

// Shorten drops the texts that do not fit into the budget, in the order given, and returns how many went; 0 means no limit. Verdicts and receipts
// stay: only the words are left out.
func Shorten(known []Knowledge, budget int) int {
	if budget <= 0 {
		return 0
	}
	left, dropped := budget*bytesPerToken, 0
	for i := range known {
		n := len(known[i].Text)
		if n > left {
			known[i].Text = ""
			known[i].Reasons = append(known[i].Reasons, "text_left_out_for_want_of_budget")
			dropped++
			continue
		}
		left -= n
	}
	return dropped
}

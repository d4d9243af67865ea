package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/state"
)

// A Handoff describes a paused workflow.
type Handoff struct {
	Task           string   `json:"task"`
	WorkflowID     string   `json:"workflow_id,omitempty"`
	WorkflowType   string   `json:"workflow_type,omitempty"`
	Tier           any      `json:"tier"`
	Phase          string   `json:"phase"`
	Iteration      any      `json:"iteration"`
	PausedAt       string   `json:"paused_at"`
	LastCommit     *string  `json:"last_commit"`
	RemainingTasks []string `json:"remaining_tasks"`
	NextAction     string   `json:"next_action"`
}

// PauseOptions completes the workflow document.
type PauseOptions struct {
	Task      string // the document's task when ""
	Phase     string // the document's phase when ""
	Next      string // the first action after resuming
	Remaining []string
}

// A Pause is the result of Pause or Resume.
type Pause struct {
	Handoff  json.RawMessage `json:"handoff"`
	Workflow *Document       `json:"workflow"`
	Archive  *string         `json:"archive"` // the snapshot with the old handoff files
	Pruned   []string        `json:"pruned,omitempty"`
	Remarks  []string        `json:"remarks,omitempty"`
}

const (
	keyTask         = "task"
	keyPhase        = "phase"
	keyTier         = "tier"
	keyIteration    = "iteration"
	keyStoppedAt    = "stopped_at"
	keyStoppedPhase = "stopped_phase"
)

// Pause writes the handoff for programs and for people and marks the workflow as not
// active, in one change.
func (m *Manager) Pause(ctx context.Context, opts PauseOptions) (*Pause, error) {
	var p *Pause
	err := m.locked(ctx, "pause", func(h *state.Locked) (err error) {
		p, err = m.pause(ctx, h, opts)
		return err
	})
	return p, err
}

func (m *Manager) pause(ctx context.Context, h *state.Locked, opts PauseOptions) (*Pause, error) {
	d, err := m.load()
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = NewDocument()
	}
	handoff, err := m.handoff(ctx, d, opts)
	if err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(handoff, "", "  ")
	if err != nil {
		return nil, err
	}
	text = append(text, '\n')
	d.Set(keyActive, false)
	d.Set(keyStoppedAt, handoff.PausedAt)
	d.Set(keyStoppedPhase, handoff.Phase)
	d.heal()
	document, err := d.YAML()
	if err != nil {
		return nil, err
	}
	writes := []state.Write{
		{Name: m.name(contract.Handoff), Content: text},
		{Name: m.name(contract.Narrative), Content: []byte(handoff.narrative())},
		{Name: m.name(contract.Workflow), Content: document},
	}
	moves, err := m.present(ctx, "replaced by a later pause", contract.Handoff, contract.Narrative)
	if err != nil {
		return nil, err
	}
	return m.change(ctx, h, state.Change{Verb: "pause", Moves: moves, Writes: writes}, &Pause{Handoff: text, Workflow: d})
}

// handoff collects the fields of the handoff.
func (m *Manager) handoff(ctx context.Context, d *Document, opts PauseOptions) (*Handoff, error) {
	h := &Handoff{
		Task: opts.Task, Phase: opts.Phase, WorkflowID: d.id(keyID), WorkflowType: d.Text(keyType),
		PausedAt: stamp(m.opts.Now()), NextAction: opts.Next, RemainingTasks: append([]string{}, opts.Remaining...),
	}
	if h.Task == "" {
		h.Task = d.Text(keyTask)
	}
	if h.Phase == "" {
		h.Phase = d.Text(keyPhase)
	}
	if h.Phase == "" {
		h.Phase = d.Text(keyStoppedPhase)
	}
	h.Tier, _ = d.Get(keyTier)
	h.Iteration, _ = d.Get(keyIteration)
	if commit := m.opts.Commit(ctx); commit != "" {
		h.LastCommit = &commit
	}
	if h.Task == "" {
		return nil, badRequest("ken state pause --task TEXT", "no task given, and the workflow document has none")
	}
	if h.Phase == "" {
		return nil, badRequest("ken state pause --phase implement --task "+fault.Quote(h.Task), "no phase given, and the workflow document has none")
	}
	if p := m.keyProblem(keyPhase, h.Phase); p != nil {
		return nil, badRequest("", "%s, expected %s", p.Problem, p.Expected)
	}
	return h, nil
}

// narrative returns the handoff as Markdown.
func (h *Handoff) narrative() string {
	var b strings.Builder
	line := func(what, text string) {
		if text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", what, oneLine(text))
		}
	}
	fmt.Fprintf(&b, "# Continue here\n\n%s\n\n", oneLine(h.Task))
	line("Phase", h.Phase)
	if h.Tier != nil {
		line("Tier", fmt.Sprint(h.Tier))
	}
	if h.Iteration != nil {
		line("Iteration", fmt.Sprint(h.Iteration))
	}
	line("Paused at", h.PausedAt)
	if h.LastCommit != nil {
		line("Last commit", *h.LastCommit)
	}
	line("Workflow", h.WorkflowID)
	line("Next", h.NextAction)
	if len(h.RemainingTasks) > 0 {
		b.WriteString("\n## Remaining\n\n")
		for _, t := range h.RemainingTasks {
			fmt.Fprintf(&b, "- %s\n", oneLine(t))
		}
	}
	b.WriteString("\nGo on with: ken state resume\n")
	return b.String()
}

// present returns moves for the existing files with these roles.
func (m *Manager) present(ctx context.Context, why string, roles ...contract.Role) ([]state.Move, error) {
	entries, err := m.dir.Entries(ctx)
	if err != nil {
		return nil, err
	}
	var moves []state.Move
	for _, e := range entries {
		for _, r := range roles {
			if e.Name == m.name(r) {
				moves = append(moves, newMove(m.c, e, why))
			}
		}
	}
	return moves, nil
}

// change records the writes in the journal, makes the change, and completes p.
func (m *Manager) change(ctx context.Context, h *state.Locked, c state.Change, p *Pause) (*Pause, error) {
	c.Time, c.Keep, c.WorkflowID = m.opts.Now(), m.keep(), p.Workflow.id(keyID)
	var records []Record
	for _, w := range c.Writes {
		records = append(records, Record{Verb: c.Verb, File: w.Name, SHA256: digest(w.Content), WorkflowID: c.WorkflowID})
	}
	if err := m.note(h, records...); err != nil {
		return nil, err
	}
	applied, err := h.Apply(ctx, c)
	if err != nil {
		return nil, err
	}
	swept := m.swept(c.Moves, applied)
	p.Archive, p.Pruned, p.Remarks = swept.Archive, swept.Pruned, swept.Remarks
	for _, move := range swept.Moves {
		if move.Status == MoveFailed {
			p.Remarks = append(p.Remarks, fmt.Sprintf("%s could not be moved: %s", move.Name.Name, move.Error))
		}
	}
	return p, nil
}

// Resume returns the handoff, marks the workflow as active, and archives both handoff
// files. It refuses a handoff of another workflow unless force is set.
func (m *Manager) Resume(ctx context.Context, force bool) (*Pause, error) {
	err := m.reading(ctx, "resume", func() error {
		_, err := m.handoffText()
		return err
	})
	if err != nil {
		return nil, err // before the lock creates the directory
	}
	var p *Pause
	err = m.locked(ctx, "resume", func(h *state.Locked) (err error) {
		p, err = m.resume(ctx, h, force)
		return err
	})
	return p, err
}

func (m *Manager) handoffText() ([]byte, error) {
	name := m.name(contract.Handoff)
	b, err := m.dir.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &fault.Error{
			Hint: "pause a workflow with: ken state pause --task TEXT",
			Err:  fmt.Errorf("nothing to resume: no %s in %s", name, m.dir.Path()),
		}
	}
	if err != nil {
		return nil, err
	}
	if problems := m.c.Check(name, b); len(problems) > 0 {
		p := problems[0]
		return nil, &fault.Error{
			Hint: "correct " + m.dir.Path() + "/" + name,
			Err:  fmt.Errorf("%s: %s, expected %s", p.File, p.Problem, p.Expected),
		}
	}
	return b, nil
}

func (m *Manager) resume(ctx context.Context, h *state.Locked, force bool) (*Pause, error) {
	text, err := m.handoffText()
	if err != nil {
		return nil, err
	}
	var handoff struct {
		Task, Phase string
		WorkflowID  string `json:"workflow_id"`
	}
	if err := json.Unmarshal(text, &handoff); err != nil {
		return nil, fmt.Errorf("%s: %w", m.name(contract.Handoff), err)
	}
	d, err := m.load()
	if err != nil {
		return nil, err
	}
	if d == nil {
		d = NewDocument()
	}
	if id := d.id(keyID); id != "" && handoff.WorkflowID != "" && !d.hasHad(handoff.WorkflowID) && !force {
		return nil, &fault.Error{
			Hint: "resume it anyway with: ken state resume --force",
			Err:  fmt.Errorf("the handoff belongs to workflow %s, but the current workflow is %s", handoff.WorkflowID, id),
		}
	}
	pairs := []Pair{{keyActive, true}}
	for _, p := range []Pair{{keyTask, handoff.Task}, {keyPhase, handoff.Phase}} {
		if d.Text(p.Key) == "" {
			pairs = append(pairs, p)
		}
	}
	d.Delete(keyStoppedAt)
	d.Delete(keyStoppedPhase)
	if err := m.set(d, pairs, true, stamper{now: m.opts.Now(), newID: m.opts.NewID}); err != nil {
		return nil, err
	}
	document, err := d.YAML()
	if err != nil {
		return nil, err
	}
	moves, err := m.present(ctx, "resumed", contract.Handoff, contract.Narrative)
	if err != nil {
		return nil, err
	}
	writes := []state.Write{{Name: m.name(contract.Workflow), Content: document}}
	return m.change(ctx, h, state.Change{Verb: "resume", Moves: moves, Writes: writes}, &Pause{Handoff: text, Workflow: d})
}

// hasHad reports whether id is the current or an earlier id of the document.
func (d *Document) hasHad(id string) bool {
	return slices.Contains(completeHistory(d.id(keyOriginal), d.id(keyID), d.history()), id)
}

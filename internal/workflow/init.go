package workflow

import (
	"context"
	"fmt"
	"time"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/state"
)

// BeginOptions describes the new workflow.
type BeginOptions struct {
	Type string // its type, required
	// Continue continues the current session: the anchors stay, and so do the files
	// that the session wrote.
	Continue bool
	Pairs    []Pair // further keys of the document
	Force    bool   // write values that the contract does not allow
}

// A BeginResult is the result of Begin.
type BeginResult struct {
	Workflow *Document `json:"workflow"`
	Moves    []Moved   `json:"moves"`
	Archive  *string   `json:"archive"`
	Pruned   []string  `json:"pruned,omitempty"`
	// Foreign lists the ad_hoc entries that were not moved.
	Foreign []Name   `json:"foreign"`
	Remarks []string `json:"remarks,omitempty"`
}

// Failures returns the number of failed moves.
func (b *BeginResult) Failures() int { return (&Sweep{Moves: b.Moves}).Failures() }

// Begin starts a workflow. In one change with one snapshot it evicts, cleans up files
// older than the start of the previous workflow, and writes a new document. In a directory
// that ken did not use before it moves nothing.
func (m *Manager) Begin(ctx context.Context, opts BeginOptions) (*BeginResult, error) {
	if opts.Type == "" {
		return nil, badRequest("ken state init --type dev", "no workflow type given")
	}
	for _, p := range opts.Pairs {
		if identifies(p.Key) {
			return nil, badRequest("ken state init --type "+fault.Quote(opts.Type), "%s cannot be given: init sets it", p.Key)
		}
	}
	var b *BeginResult
	err := m.lockedAny(ctx, "init", func(h *state.Locked) (err error) {
		b, err = m.begin(ctx, h, opts)
		return err
	})
	return b, err
}

func (m *Manager) begin(ctx context.Context, h *state.Locked, opts BeginOptions) (*BeginResult, error) {
	now := m.opts.Now()
	used, err := m.used(ctx)
	if err != nil {
		return nil, err
	}
	prior, err := m.load()
	if err != nil {
		return nil, err
	}
	if !used && prior != nil {
		return nil, m.foreignDocument()
	}
	remarks := m.Warnings(opts.Pairs)
	if opts.Continue && len(prior.session(now).ids) == 0 {
		opts.Continue = false
		remarks = append(remarks, "there was no session to continue; a new one was started")
	}
	next, err := m.nextDocument(prior, opts, now)
	if err != nil {
		return nil, err
	}
	text, err := next.YAML()
	if err != nil {
		return nil, err
	}
	entries, err := m.dir.Entries(ctx)
	if err != nil {
		return nil, err
	}
	var moves []state.Move
	if used {
		var more []string
		if moves, more, err = m.planBegin(entries, prior, opts.Continue, now); err != nil {
			return nil, err
		}
		remarks = append(remarks, more...)
	} else {
		remarks = append(remarks, "ken did not use this directory before, so init moved nothing")
	}
	name := m.name(contract.Workflow)
	change := state.Change{
		Verb: "init", Time: now, WorkflowID: prior.id(keyID), Moves: moves, Keep: m.keep(),
		Write: &state.Write{Name: name, Content: text},
	}
	if prior != nil && !opts.Continue { // with --continue the document is changed, not replaced
		change.Moves = sortMoves(append(moves, state.Move{
			Name: name, Bucket: contract.Canonical.String(), Reason: "the previous workflow's document",
		}))
	}
	if err := m.note(h, Record{Verb: "init", File: name, SHA256: digest(text), WorkflowID: next.id(keyID)}); err != nil {
		return nil, err
	}
	applied, err := h.Apply(ctx, change)
	if err != nil {
		return nil, err
	}
	swept := m.swept(change.Moves, applied)
	b := &BeginResult{Workflow: next, Moves: swept.Moves, Archive: swept.Archive, Pruned: swept.Pruned, Remarks: append(remarks, swept.Remarks...), Foreign: []Name{}}
	moved := make(map[string]bool, len(change.Moves))
	for _, move := range change.Moves {
		moved[move.Name] = true
	}
	for _, e := range entries {
		if classify(m.c, e) == contract.AdHoc && !moved[e.Name] {
			b.Foreign = append(b.Foreign, nameJSON(e.Name))
		}
	}
	return b, nil
}

// nextDocument returns the document of the new workflow.
func (m *Manager) nextDocument(prior *Document, opts BeginOptions, now time.Time) (*Document, error) {
	pairs := []Pair{{keyActive, true}, {keyType, opts.Type}}
	for _, key := range m.c.Keys {
		if key.Initial != "" && !identifies(key.Name) {
			pairs = append(pairs, Pair{key.Name, key.InitialValue()})
		}
	}
	pairs = append(pairs, opts.Pairs...)
	next := NewDocument()
	if opts.Continue {
		next = prior.clone()
	}
	return next, m.set(next, pairs, opts.Force, stamper{now: now, newID: m.opts.NewID, rotate: opts.Continue})
}

// planBegin lists the files that the new workflow must not see.
func (m *Manager) planBegin(entries []state.Entry, prior *Document, goesOn bool, now time.Time) (moves []state.Move, remarks []string, err error) {
	s := prior.session(now)
	by, err := m.authors()
	if err != nil {
		return nil, nil, err
	}
	foreign := func(state.Entry) string { return "there before this workflow began" }
	if goesOn {
		foreign = func(e state.Entry) string { return s.foreign(e, by) }
	}
	moves = planEvict(m.c, entries, foreign)
	cutoff := s.began
	if goesOn {
		cutoff = s.start // newer files are the session's own
	}
	clean := CleanupOptions{AdHocCutoff: cutoff, PatternCutoff: cutoff}
	if cutoff.IsZero() {
		day := 1
		clean.StaleDays, clean.AdHocStaleDays = &day, &day
		if created := prior.Text(keyCreated); created != "" {
			remarks = append(remarks, fmt.Sprintf(
				"%s of the previous workflow is not a time (%q); moved files older than one day instead", keyCreated, created))
		}
	}
	for _, move := range planCleanup(m.c, entries, now, clean) {
		if !goesOn || !s.wrote(move.Name, by) {
			moves = append(moves, move)
		}
	}
	return sortMoves(moves), remarks, nil
}

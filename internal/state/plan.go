package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A plan is a change as it is written down before it is carried out.
type plan struct {
	Version    int        `json:"version"`
	Verb       string     `json:"verb"`
	Time       time.Time  `json:"time"`           // names the snapshot
	Home       string     `json:"home,omitempty"` // the directory it is for
	WorkflowID string     `json:"workflow_id,omitempty"`
	Moves      []planMove `json:"moves"`
	Writes     []rawName  `json:"writes"`
	Restore    string     `json:"restore,omitempty"`
	From       string     `json:"from,omitempty"` // where the restored files lay, in the state directory
	Back       []rawName  `json:"back,omitempty"` // their names
	Keep       int        `json:"keep"`

	accounted bool // it is over, and the manifest says what was done
}

type planMove struct {
	Name   rawName `json:"name"`
	Bucket string  `json:"bucket"`
	Reason string  `json:"reason"`
}

// A rawName is a name of any bytes, which JSON holds in base64.
type rawName []byte

const planVersion = 1

// plan writes down the change c. Its time is the first from c's own on of which
// there is no snapshot, so that no two have the same.
func (h *Locked) plan(c Change) (*plan, error) {
	p := &plan{
		Version: planVersion, Verb: c.Verb, Time: c.Time.UTC(), WorkflowID: c.WorkflowID, Restore: c.Restore, Keep: c.Keep,
		Moves: make([]planMove, 0, len(c.Moves)), Writes: make([]rawName, 0, len(c.Writes)),
	}
	if c.Time.IsZero() {
		p.Time = h.dir.now().UTC()
	}
	var err error
	if p.Home, err = h.home(); err != nil {
		return nil, err
	}
	for _, m := range c.Moves {
		p.Moves = append(p.Moves, planMove{rawName(m.Name), m.Bucket, m.Reason})
	}
	for _, w := range c.Writes {
		p.Writes = append(p.Writes, rawName(w.Name))
	}
	if c.Restore != "" {
		s, err := h.openSnapshot(c.Restore)
		if err != nil {
			return nil, err
		}
		p.From = s.files
		for _, e := range s.entries {
			p.Back = append(p.Back, rawName(e.Name))
		}
	}
	taken, err := list(h.root, h.dir.names.Archive)
	if err != nil {
		return nil, err
	}
	all := strings.Join(taken, "/")
	for strings.Contains(all, stamp(p.Time)) {
		p.Time = p.Time.Add(time.Nanosecond)
	}
	return p, nil
}

// moved returns the names that the plan moves.
func (p *plan) moved() map[string]bool {
	set := make(map[string]bool, len(p.Moves))
	for _, m := range p.Moves {
		set[string(m.Name)] = true
	}
	return set
}

func (p *plan) marshal() ([]byte, error) {
	b, err := json.Marshal(p)
	return append(b, '\n'), err
}

var errPlan = errors.New("its plan cannot be read")

// parsePlan reads what marshal wrote, and trusts none of it: a plan that was made for
// another directory, and came here by a copy or a checkout, is not carried out, nor
// is one that reaches beyond what a verb can ask for.
func (h *Locked) parsePlan(b []byte) (*plan, error) {
	var p plan
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("%w: %w", errPlan, err)
	}
	home, err := h.home()
	if err != nil {
		return nil, err
	}
	if p.Home != home || p.Version < 1 {
		return nil, fmt.Errorf("%w: it was not made for this directory", errPlan)
	}
	if p.Version > planVersion {
		return nil, &fault.Error{
			Hint: "use the newer ken once, which finishes it",
			Err:  fmt.Errorf("a change by a newer ken is unfinished: its plan has version %d", p.Version),
		}
	}
	if err := checkVerb(p.Verb); err != nil {
		return nil, fmt.Errorf("%w: %w", errPlan, err)
	}
	raw := append([]rawName(nil), p.Writes...)
	for _, m := range p.Moves {
		raw = append(raw, m.Name)
	}
	for _, name := range raw {
		if err := h.own(string(name)); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errPlan, repo.Path(name), err)
		}
	}
	if p.Restore != "" {
		raw = append(p.Back, rawName(p.Restore))
	}
	for _, name := range raw {
		if err := checkName(string(name)); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", errPlan, repo.Path(name), err)
		}
	}
	if from := h.dir.names.Archive + "/" + p.Restore; p.Restore == "" && p.From != "" || p.Restore != "" && p.From != from && p.From != from+movedFiles {
		return nil, fmt.Errorf("%w: it restores from %s", errPlan, repo.Path(p.From))
	}
	return &p, nil
}

// home tells this directory from every other, as long as it lives.
func (h *Locked) home() (string, error) {
	info, err := h.root.Stat(".")
	if err != nil {
		return "", err
	}
	return identity(info), nil
}

// checkVerb refuses what cannot stand in the name of a snapshot.
func checkVerb(verb string) error {
	if verb == "" || strings.Trim(verb, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return fmt.Errorf("%q is not a verb", verb)
	}
	return nil
}

// snapshotName is the name of the snapshot that a verb makes. A reset's has no
// suffix, being what the archive was for at first.
func snapshotName(at time.Time, verb string) string {
	if verb == "reset" || verb == "" {
		return stamp(at)
	}
	return stamp(at) + "-" + verb
}

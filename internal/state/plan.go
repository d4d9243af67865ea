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

// A plan is a change as it is written to disk before it is carried out.
type plan struct {
	Version    int        `json:"version"`
	Verb       string     `json:"verb"`
	Time       time.Time  `json:"time"`           // names the snapshot
	Home       string     `json:"home,omitempty"` // identifies the directory
	WorkflowID string     `json:"workflow_id,omitempty"`
	Moves      []planMove `json:"moves"`
	Writes     []rawName  `json:"writes"`
	Restore    string     `json:"restore,omitempty"`
	From       string     `json:"from,omitempty"`    // the folder of the restored files, relative to the state directory
	Back       []rawName  `json:"back,omitempty"`    // their names
	Partial    bool       `json:"partial,omitempty"` // Back does not have all names of the snapshot
	Keep       int        `json:"keep"`

	manifestWritten bool // the manifest is written
}

type planMove struct {
	Name   rawName `json:"name"`
	Bucket string  `json:"bucket"`
	Reason string  `json:"reason"`
}

// A rawName is a name of any bytes, in base64 in JSON.
type rawName []byte

const (
	planVersion = 2
	// wholePlan is the version of a plan that does not restore a part of a snapshot. Older
	// versions of ken can finish it.
	wholePlan = 1
)

// plan returns the plan of a change. If a snapshot has its time already, the plan gets
// the next free one.
func (l *Locked) plan(c Change) (*plan, error) {
	p := &plan{
		Version: wholePlan, Verb: c.Verb, Time: c.Time.UTC(), WorkflowID: c.WorkflowID, Restore: c.Restore, Keep: c.Keep,
		Moves: make([]planMove, 0, len(c.Moves)), Writes: make([]rawName, 0, len(c.Writes)),
	}
	if c.Time.IsZero() {
		p.Time = l.dir.now().UTC()
	}
	var err error
	if p.Home, err = l.home(); err != nil {
		return nil, err
	}
	for _, m := range c.Moves {
		p.Moves = append(p.Moves, planMove{rawName(m.Name), m.Bucket, m.Reason})
	}
	for _, w := range c.Writes {
		p.Writes = append(p.Writes, rawName(w.Name))
	}
	if c.Restore != "" {
		if err := l.planRestore(p, c); err != nil {
			return nil, err
		}
	}
	taken, err := list(l.root, l.dir.names.Archive)
	if err != nil {
		return nil, err
	}
	all := strings.Join(taken, "/")
	for strings.Contains(all, stamp(p.Time)) {
		p.Time = p.Time.Add(time.Nanosecond)
	}
	return p, nil
}

// planRestore adds the entries that come back from a snapshot.
func (l *Locked) planRestore(p *plan, c Change) error {
	s, err := l.openSnapshot(c.Restore)
	if err != nil {
		return err
	}
	p.From = s.files
	if len(c.RestoreOnly) > 0 {
		p.Partial, p.Version = true, planVersion
	}
	selected := make(map[string]bool, len(c.RestoreOnly))
	for _, name := range c.RestoreOnly {
		selected[name] = true
	}
	for _, e := range s.entries {
		if p.Partial && !selected[e.Name] {
			continue
		}
		p.Back = append(p.Back, rawName(e.Name))
		delete(selected, e.Name)
	}
	for name := range selected {
		return fmt.Errorf("snapshot %s has no %s", repo.Path(c.Restore), repo.Path(name))
	}
	return nil
}

// back returns the names that come back from a snapshot.
func (p *plan) back() map[string]bool {
	set := make(map[string]bool, len(p.Back))
	for _, name := range p.Back {
		set[string(name)] = true
	}
	return set
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

var errPlan = errors.New("cannot read its plan")

// parsePlan parses a plan and does not trust it. It refuses a plan for another directory,
// as in a copy or a checkout, and one with names that a verb cannot have.
func (l *Locked) parsePlan(b []byte) (*plan, error) {
	var p plan
	if err := json.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("%w: %w", errPlan, err)
	}
	home, err := l.home()
	if err != nil {
		return nil, err
	}
	if p.Home != home || p.Version < 1 {
		return nil, fmt.Errorf("%w: it was not made for this directory", errPlan)
	}
	if p.Version > planVersion {
		return nil, &fault.Error{
			Hint: "run the newer version of ken once; it finishes the change",
			Err:  fmt.Errorf("a newer version of ken left an unfinished change (plan version %d)", p.Version),
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
		if err := l.checkOwned(string(name)); err != nil {
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
	if from := l.dir.names.Archive + "/" + p.Restore; p.Restore == "" && p.From != "" || p.Restore != "" && p.From != from && p.From != from+movedFiles {
		return nil, fmt.Errorf("%w: it restores from %s", errPlan, repo.Path(p.From))
	}
	return &p, nil
}

// home returns the identity of the directory.
func (l *Locked) home() (string, error) {
	info, err := l.root.Stat(".")
	if err != nil {
		return "", err
	}
	return identity(info), nil
}

// checkVerb returns an error for a verb that a snapshot's name cannot have.
func checkVerb(verb string) error {
	if verb == "" || strings.Trim(verb, "abcdefghijklmnopqrstuvwxyz-") != "" {
		return fmt.Errorf("%q is not a verb", verb)
	}
	return nil
}

// snapshotName returns the name of a snapshot: the time and the verb, or only the time
// for a reset.
func snapshotName(at time.Time, verb string) string {
	if verb == "reset" || verb == "" {
		return stamp(at)
	}
	return stamp(at) + "-" + verb
}

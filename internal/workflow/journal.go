package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"slices"

	"ken/internal/contract"
	"ken/internal/state"
)

// A Record is one line of the journal: who wrote which content.
type Record struct {
	TS         string `json:"ts"`
	Verb       string `json:"verb"`
	File       string `json:"file"`
	SHA256     string `json:"sha256,omitempty"`
	WorkflowID string `json:"workflow_id,omitempty"`
	Author     string `json:"author,omitempty"`
	LastID     string `json:"last_id,omitempty"` // the highest given out, of work put off
}

// journalLimit is the size from which on the journal is boiled down to what
// still matters; what it was before is set aside whole.
const journalLimit = 1 << 20

// A journal is the file of records, oldest first.
type journal []Record

// parseJournal reads every line that can be read; one torn by a crash says
// nothing, and that is what it counts for.
func parseJournal(b []byte) journal {
	var j journal
	for line := range bytes.Lines(b) {
		var r Record
		if json.Unmarshal(line, &r) == nil && r.File != "" {
			j = append(j, r)
		}
	}
	return j
}

// last returns the last word about each file.
func (j journal) last() map[string]Record {
	words := make(map[string]Record)
	for _, r := range j {
		words[r.File] = r
	}
	return words
}

// vouches reports whether a record says who wrote this very content: a file that
// anyone has touched since is no longer what the journal speaks of.
func (r Record) vouches(digest string) bool { return r.WorkflowID != "" && r.SHA256 == digest }

// distil returns what the journal has to remember: the last word about each file
// that is still there, and about work put off. If even that is too much, the
// oldest words are forgotten.
func (j journal) distil(there func(file string) bool) journal {
	var out journal
	seen := make(map[string]bool)
	room := journalLimit / 2
	for _, r := range slices.Backward(j) {
		if seen[r.File] || r.LastID == "" && !there(r.File) {
			continue
		}
		seen[r.File] = true
		if room -= len(journal{r}.bytes()); room < 0 && r.LastID == "" {
			continue
		}
		out = append(out, r)
	}
	slices.Reverse(out)
	return out
}

func (j journal) bytes() []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, r := range j {
		if err := enc.Encode(r); err != nil {
			panic(err) // a record is text
		}
	}
	return b.Bytes()
}

func (k *Keeper) journal() (journal, error) {
	b, err := k.dir.Read(k.name(contract.Journal))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return parseJournal(b), err
}

// note adds records to the journal, before what they speak of is written: one
// that speaks of a content that never came about vouches for nothing.
func (k *Keeper) note(h *state.Locked, records ...Record) error {
	name := k.name(contract.Journal)
	for i := range records {
		records[i].TS, records[i].Author = stamp(k.opts.Now()), k.opts.Author
	}
	lines := journal(records).bytes()
	size, err := k.dir.Size(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if size+int64(len(lines)) <= journalLimit {
		return h.Append(name, lines, 0)
	}
	old, err := k.journal()
	if err != nil {
		// Nobody can read it: it is set aside, and another begins.
		return h.Append(name, lines, journalLimit)
	}
	if err := h.SetAside(name); err != nil {
		return err
	}
	there := func(file string) bool {
		_, err := k.dir.Size(file)
		return err == nil
	}
	return h.Replace(name, append(old.distil(there), records...).bytes())
}

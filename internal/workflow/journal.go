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

// A Record is one line of the journal: which workflow wrote which content.
type Record struct {
	TS         string `json:"ts"`
	Verb       string `json:"verb"`
	File       string `json:"file"`
	SHA256     string `json:"sha256,omitempty"`
	WorkflowID string `json:"workflow_id,omitempty"`
	Author     string `json:"author,omitempty"`
	LastID     string `json:"last_id,omitempty"` // the highest id of deferred work
}

// journalLimit is the size at which the journal is compacted. The full journal is
// kept in the archive.
const journalLimit = 1 << 20

// A journal has the records of the file, oldest first.
type journal []Record

// parseJournal reads the lines that can be read and ignores the others, such as a line
// torn by a crash.
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

// last returns the last record of each file.
func (j journal) last() map[string]Record {
	records := make(map[string]Record)
	for _, r := range j {
		records[r.File] = r
	}
	return records
}

// wrote reports whether the record names the workflow that wrote content with this
// digest. It does not after someone else edited the file.
func (r Record) wrote(digest string) bool { return r.WorkflowID != "" && r.SHA256 == digest }

// compact returns the last record of each file that still exists, and of deferred
// work. If that is too much, it drops the oldest records.
func (j journal) compact(there func(file string) bool) journal {
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

func (m *Manager) journal() (journal, error) {
	b, err := m.dir.Read(m.name(contract.Journal))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return parseJournal(b), err
}

// replace records the content of a file in the journal and writes the file.
func (m *Manager) replace(h *state.Locked, r Record, content []byte) error {
	r.SHA256 = digest(content)
	if err := m.note(h, r); err != nil {
		return err
	}
	return h.Replace(r.File, content)
}

// note adds a record to the journal. It is called before the file is written: a record
// of content that was never written matches no file.
func (m *Manager) note(h *state.Locked, r Record) error {
	name := m.name(contract.Journal)
	r.TS = stamp(m.opts.Now())
	r.Author = m.opts.Author
	lines := journal{r}.bytes()
	size, err := m.dir.Size(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if size+int64(len(lines)) <= journalLimit {
		return h.Append(name, lines)
	}
	// The old journal stays in the archive. If it cannot be read, a new one starts.
	old, _ := m.journal()
	if err := h.SetAside(name); err != nil {
		return err
	}
	there := func(file string) bool {
		_, err := m.dir.Size(file)
		return err == nil
	}
	return h.Replace(name, append(old.compact(there), r).bytes())
}

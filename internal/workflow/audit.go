package workflow

import (
	"context"
	"time"

	"ken/internal/contract"
	"ken/internal/state"
)

// An Audit has the entries of the directory by bucket.
type Audit struct {
	Dir        string `json:"dir"`
	Counts     Counts `json:"counts"`
	TotalBytes int64  `json:"total_bytes"`
	// Buckets has the entries by [contract.Bucket], sorted by name. JSON has them as
	// [AuditEntry].
	Buckets [5][]state.Entry `json:"-"`

	c *contract.Contract
}

// Counts has the number of entries in each bucket.
type Counts struct {
	Canonical      int `json:"canonical"`
	PatternAllowed int `json:"pattern_allowed"`
	Ephemeral      int `json:"ephemeral"`
	AdHoc          int `json:"ad_hoc"`
	Unknown        int `json:"unknown"`
	Total          int `json:"total"`
}

// NeedsAttention reports whether an entry is not allowed, is a leftover, or is unknown.
func (c Counts) NeedsAttention() bool { return c.AdHoc+c.Ephemeral+c.Unknown > 0 }

// Audit classifies all entries of the directory and writes nothing. A directory that
// does not exist has no entries.
func (m *Manager) Audit(ctx context.Context) (*Audit, error) {
	var entries []state.Entry
	err := m.reading(ctx, "audit", func() (err error) {
		entries, err = m.dir.Entries(ctx)
		return err
	})
	if err != nil {
		return nil, err
	}
	a := &Audit{Dir: m.dir.Path(), c: m.c}
	for _, e := range entries {
		b := classify(m.c, e)
		a.Buckets[b] = append(a.Buckets[b], e)
		if e.Kind != state.Directory {
			a.TotalBytes += e.Size
		}
	}
	a.Counts = Counts{
		Canonical:      len(a.Buckets[contract.Canonical]),
		PatternAllowed: len(a.Buckets[contract.PatternAllowed]),
		Ephemeral:      len(a.Buckets[contract.Ephemeral]),
		AdHoc:          len(a.Buckets[contract.AdHoc]),
		Unknown:        len(a.Buckets[contract.Unknown]),
		Total:          len(entries),
	}
	return a, nil
}

// Entries returns the entries of a bucket for JSON. The list is never nil.
func (a *Audit) Entries(b contract.Bucket) []AuditEntry {
	list := make([]AuditEntry, len(a.Buckets[b]))
	for i := range list {
		list[i] = a.Entry(b, i)
	}
	return list
}

// An AuditEntry is an entry in JSON.
type AuditEntry struct {
	Name
	Size  int64   `json:"size"`
	MTime *string `json:"mtime"` // null if it could not be inspected
	IsDir bool    `json:"is_dir"`
	Error string  `json:"error,omitempty"`
	// Nearest is the allowed name that an ad_hoc file was probably meant to have.
	Nearest string `json:"nearest,omitempty"`
}

// Entry returns an entry of a bucket for JSON.
func (a *Audit) Entry(b contract.Bucket, i int) AuditEntry {
	e := a.Buckets[b][i]
	out := AuditEntry{Name: nameJSON(e.Name), Size: e.Size, IsDir: e.Kind == state.Directory}
	if _, known := a.c.File(e.Name); b == contract.AdHoc && !out.IsDir && !known {
		out.Nearest, _ = a.c.SuggestFile(e.Name)
	}
	if e.Err != nil {
		out.Error = e.Err.Error()
		return out
	}
	t := e.ModTime.UTC().Format(time.RFC3339Nano)
	out.MTime = &t
	if out.IsDir {
		out.Size = 0
	}
	return out
}

package workflow

import (
	"context"
	"encoding/json"
	"time"

	"ken/internal/contract"
)

// An Audit says how the contract sees every entry of the directory.
type Audit struct {
	Dir        string
	Counts     Counts
	TotalBytes int64
	Buckets    [5][]contract.Entry // by [contract.Bucket], each sorted by name
}

// Counts is how many entries are in each bucket.
type Counts struct {
	Canonical      int `json:"canonical"`
	PatternAllowed int `json:"pattern_allowed"`
	Ephemeral      int `json:"ephemeral"`
	AdHoc          int `json:"ad_hoc"`
	Unknown        int `json:"unknown"`
	Total          int `json:"total"`
}

// Wanting reports whether anything lies there that should not, or that nobody
// can vouch for.
func (c Counts) Wanting() bool { return c.AdHoc+c.Ephemeral+c.Unknown > 0 }

// Audit classifies everything in the directory, and writes nothing. A directory
// that does not exist holds nothing.
func (k *Keeper) Audit(ctx context.Context) (*Audit, error) {
	if err := k.settle(ctx, "audit"); err != nil {
		return nil, err
	}
	entries, err := k.dir.Entries(ctx)
	if err != nil {
		return nil, err
	}
	a := &Audit{Dir: k.dir.Path()}
	for _, e := range entries {
		b := k.c.Classify(e)
		a.Buckets[b] = append(a.Buckets[b], e)
		if e.Kind != contract.Directory {
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

// MarshalJSON writes the audit as docs/formats describes it.
func (a *Audit) MarshalJSON() ([]byte, error) {
	type buckets struct {
		Canonical      []auditEntry `json:"canonical"`
		PatternAllowed []auditEntry `json:"pattern_allowed"`
		Ephemeral      []auditEntry `json:"ephemeral"`
		AdHoc          []auditEntry `json:"ad_hoc"`
		Unknown        []auditEntry `json:"unknown"`
	}
	list := func(b contract.Bucket) []auditEntry {
		out := make([]auditEntry, len(a.Buckets[b]))
		for i, e := range a.Buckets[b] {
			out[i] = entryJSON(e)
		}
		return out
	}
	return json.Marshal(struct {
		Dir        string  `json:"dir"`
		Counts     Counts  `json:"counts"`
		TotalBytes int64   `json:"total_bytes"`
		Buckets    buckets `json:"buckets"`
	}{a.Dir, a.Counts, a.TotalBytes, buckets{
		list(contract.Canonical), list(contract.PatternAllowed), list(contract.Ephemeral), list(contract.AdHoc), list(contract.Unknown),
	}})
}

type auditEntry struct {
	Name
	Size  int64   `json:"size"`
	MTime *string `json:"mtime"`
	IsDir bool    `json:"is_dir"`
	Error string  `json:"error,omitempty"`
}

func entryJSON(e contract.Entry) auditEntry {
	out := auditEntry{Name: nameJSON(e.Name), Size: e.Size, IsDir: e.Kind == contract.Directory}
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

package workflow

import (
	"context"
	"slices"
	"strings"
	"time"

	"ken/internal/contract"
	"ken/internal/state"
)

// An ArchiveList lists the snapshots of the archive.
type ArchiveList struct {
	Archive   string         `json:"archive"`
	Keep      int            `json:"keep"`
	Snapshots []ArchivedItem `json:"snapshots"`
}

// An ArchivedItem is one snapshot of the archive.
type ArchivedItem struct {
	Name       string    `json:"name"`
	Time       time.Time `json:"time"`
	Verb       string    `json:"verb,omitempty"` // "" for a folder that another program made
	WorkflowID string    `json:"workflow_id,omitempty"`
	Files      int       `json:"files"`
	Bytes      int64     `json:"bytes"`
	Foreign    bool      `json:"foreign,omitempty"`
}

// An ArchivedSnapshot is a snapshot with its entries.
type ArchivedSnapshot struct {
	ArchivedItem
	Entries []ArchivedEntry `json:"entries"`
}

// An ArchivedEntry is one entry of a snapshot. Bucket and Reason are "" if the manifest
// does not have it.
type ArchivedEntry struct {
	Name
	Kind    string    `json:"kind"` // file, dir, link, special
	Size    int64     `json:"size"`
	MTime   time.Time `json:"mtime"`
	Target  string    `json:"target,omitempty"` // of a link
	Bucket  string    `json:"bucket,omitempty"`
	Reason  string    `json:"reason,omitempty"`
	Missing bool      `json:"missing,omitempty"` // the manifest has it, the snapshot does not
}

// Archive lists the snapshots, oldest first.
func (m *Manager) Archive(ctx context.Context) (*ArchiveList, error) {
	all, err := m.snapshots(ctx, "archive ls")
	if err != nil {
		return nil, err
	}
	list := &ArchiveList{Archive: m.name(contract.Archive), Keep: m.keep(), Snapshots: []ArchivedItem{}}
	for _, s := range all {
		list.Snapshots = append(list.Snapshots, archivedItem(s))
	}
	return list, nil
}

// Snapshot returns a snapshot of the archive with its entries, sorted by name. Without a
// name it is the latest that ken made.
func (m *Manager) Snapshot(ctx context.Context, name string) (*ArchivedSnapshot, error) {
	all, err := m.snapshots(ctx, "archive show")
	if err != nil {
		return nil, err
	}
	snap, err := latest(all)
	if name != "" {
		snap, err = m.find(all, name, "ken state archive show ")
	}
	if err != nil {
		return nil, err
	}
	out := &ArchivedSnapshot{ArchivedItem: archivedItem(snap), Entries: []ArchivedEntry{}}
	recorded := make(map[Name]state.ManifestEntry)
	if snap.Manifest != nil {
		for _, file := range snap.Manifest.Files {
			recorded[Name{file.Name, file.B64}] = file
		}
	}
	for _, e := range snap.Files {
		name := nameJSON(e.Name)
		file := recorded[name]
		delete(recorded, name)
		out.Entries = append(out.Entries, ArchivedEntry{
			Name: name, Kind: e.Kind.String(), Size: e.Size, MTime: e.ModTime.UTC(),
			Target: file.Target, Bucket: file.Bucket, Reason: file.Reason,
		})
	}
	for name, file := range recorded {
		out.Entries = append(out.Entries, ArchivedEntry{
			Name: name, Kind: file.Kind, Size: file.Size, MTime: file.MTime, Target: file.Target, Bucket: file.Bucket, Reason: file.Reason, Missing: true,
		})
	}
	slices.SortFunc(out.Entries, func(a, b ArchivedEntry) int { return strings.Compare(a.Name.Name, b.Name.Name) })
	return out, nil
}

func archivedItem(s state.Snapshot) ArchivedItem {
	item := ArchivedItem{Name: s.Name, Time: s.Time.UTC(), Files: len(s.Files), Foreign: s.Manifest == nil}
	if s.Manifest != nil {
		item.Verb, item.WorkflowID = s.Manifest.Verb, s.Manifest.WorkflowID
	}
	for _, f := range s.Files {
		if f.Kind == state.Regular {
			item.Bytes += f.Size
		}
	}
	return item
}

// snapshots lists the archive before or after a change.
func (m *Manager) snapshots(ctx context.Context, verb string) (all []state.Snapshot, err error) {
	err = m.reading(ctx, verb, func() (err error) {
		all, err = m.dir.Snapshots(ctx)
		return err
	})
	return all, err
}

package workflow

import (
	"context"
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

// Archive lists the snapshots, oldest first.
func (k *Manager) Archive(ctx context.Context) (*ArchiveList, error) {
	all, err := k.snapshots(ctx, "archive ls")
	if err != nil {
		return nil, err
	}
	list := &ArchiveList{Archive: k.name(contract.Archive), Keep: k.keep(), Snapshots: []ArchivedItem{}}
	for _, s := range all {
		item := ArchivedItem{Name: s.Name, Time: s.Time.UTC(), Files: len(s.Files), Foreign: s.Manifest == nil}
		if s.Manifest != nil {
			item.Verb, item.WorkflowID = s.Manifest.Verb, s.Manifest.WorkflowID
		}
		for _, f := range s.Files {
			if f.Kind == state.Regular {
				item.Bytes += f.Size
			}
		}
		list.Snapshots = append(list.Snapshots, item)
	}
	return list, nil
}

// snapshots lists the archive before or after a change.
func (k *Manager) snapshots(ctx context.Context, verb string) (all []state.Snapshot, err error) {
	err = k.reading(ctx, verb, func() (err error) {
		all, err = k.dir.Snapshots(ctx)
		return err
	})
	return all, err
}

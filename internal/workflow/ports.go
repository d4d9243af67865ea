package workflow

import (
	"context"
	"time"

	"ken/internal/contract"
)

// A Dir is a state directory on disk. Every name is that of an entry directly in
// it; one with a slash is an error, and nothing is followed out of it.
type Dir interface {
	// Path names the directory in documents and messages.
	Path() string
	// Entries lists what lies there, sorted by name, each as lstat saw it. A
	// directory that does not exist holds nothing.
	Entries(ctx context.Context) ([]contract.Entry, error)
	// Read returns a file's content. Only regular files are read: a link, a
	// directory or a pipe is an error. fs.ErrNotExist if there is none.
	Read(name string) ([]byte, error)
	// Size returns a regular file's size; fs.ErrNotExist if there is none.
	Size(name string) (int64, error)
	// Digest returns the sha256 of a regular file's content, in hex.
	Digest(name string) (string, error)
	// Snapshots lists the archive, oldest first by the time recorded inside.
	Snapshots(ctx context.Context) ([]Snapshot, error)
	// Lock waits for the directory's lock, as long as it was told to when it
	// was opened, finishes what a killed holder had begun, and returns
	// the only way to write. The directory is made if need be.
	Lock(ctx context.Context, command string) (Held, error)
	// Pulse tells whether what is read now belongs together.
	Pulse() (Pulse, error)
}

// A Pulse is a sign of life of changes. Two that are equal, and neither in the
// midst of one, say that no change of several files came in between.
type Pulse struct {
	// Midst says that a killed holder left a change half done, or that a live
	// one is at it: taking the lock settles either.
	Midst bool
	// Mark is another after every change.
	Mark string
}

// Held is a locked state directory.
type Held interface {
	// Replace writes a file whole: a reader, and the next run after a crash,
	// finds the old content or the new.
	Replace(name string, content []byte) error
	// Append adds whole lines to a file, durably. A file that has grown past limit
	// is set aside in the archive first, never thrown away; 0 sets no limit.
	Append(name string, lines []byte, limit int64) error
	// SetAside copies a file into the archive's logs, durably.
	SetAside(name string) error
	// Apply makes a change, all of it or nothing, whatever happens meanwhile.
	Apply(ctx context.Context, c Change) (Applied, error)
	// Unlock lets go. It is called exactly once.
	Unlock() error
}

// A Change is all that one verb does to the directory.
type Change struct {
	Verb string    // who asks: reset, cleanup, evict, init, …
	Time time.Time // when; it names the snapshot
	// WorkflowID says whose files are moved, "" when nobody knows.
	WorkflowID string
	Moves      []Move  // out of the directory, into one new snapshot
	Restore    string  // the snapshot whose files come back, "" for none
	Writes     []Write // new contents, after the moves; a file may be both moved and written
	// Keep is how many snapshots may remain, the new one included and never
	// the one to go; 0 keeps none at all, and negative all.
	Keep int
}

// A Move is an entry that leaves the directory for the archive.
type Move struct {
	Name   string
	Bucket contract.Bucket
	Reason string
}

// A Write is a file's new content.
type Write struct {
	Name    string
	Content []byte
}

// Applied is what became of a change.
type Applied struct {
	// Snapshot is the name of what was made, "" if nothing was moved or kept.
	Snapshot string
	// Failed says why a move, by name, was not possible; the others were made.
	Failed map[string]error
	// Gone lists the names that were no more there to be moved.
	Gone []string
	// Restored lists the names that came back, and Left those of the restored snapshot
	// that could not, each with the reason.
	Restored []string
	Left     map[string]error
	// Pruned lists the snapshots that made room, and PruneErr says why one
	// that should have gone is still there.
	Pruned   []string
	PruneErr error
}

// A Snapshot is one folder of the archive.
type Snapshot struct {
	Name string
	Time time.Time
	// Manifest is nil for a folder that another program made.
	Manifest *Manifest
	Files    []contract.Entry // what lies in it now, sorted by name
}

// A Manifest is the account that a snapshot gives of itself.
type Manifest struct {
	Version    int             `json:"version"`
	Verb       string          `json:"verb"`
	Time       time.Time       `json:"time"`
	WorkflowID string          `json:"workflow_id,omitempty"`
	Files      []ManifestEntry `json:"files"`
}

// A ManifestEntry is one moved entry: its name, what it was, and why it left.
type ManifestEntry struct {
	Name   string    `json:"name"`
	B64    string    `json:"name_b64,omitempty"`
	Kind   string    `json:"kind"` // file, dir, link, special
	Size   int64     `json:"size"`
	MTime  time.Time `json:"mtime"`
	SHA256 string    `json:"sha256,omitempty"` // of a file
	Target string    `json:"target,omitempty"` // of a link
	Bucket string    `json:"bucket"`
	Reason string    `json:"reason"`
}

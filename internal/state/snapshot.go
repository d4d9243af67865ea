package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"ken/internal/repo"
)

const (
	// maxManifest is the size of the largest manifest, for about a million entries.
	maxManifest     = 512 << 20
	manifestVersion = 1
	// maxDigested is how many bytes a snapshot reads for the digests in its manifest.
	// The process has the lock meanwhile.
	maxDigested = 64 << 20
	// foreignManifest is the manifest of other programs that use the archive.
	foreignManifest = "MANIFEST.txt"
)

// A Snapshot is one folder of the archive.
type Snapshot struct {
	Name string
	Time time.Time
	// Manifest is nil for a folder that another program made.
	Manifest *Manifest
	Files    []Entry // the entries in it now, sorted by name

	dir string // the folder of the entries, relative to the state directory
}

// A Manifest says what a snapshot contains and why.
type Manifest struct {
	Version    int             `json:"version"`
	Verb       string          `json:"verb"`
	Time       time.Time       `json:"time"`
	WorkflowID string          `json:"workflow_id,omitempty"`
	Files      []ManifestEntry `json:"files"`
}

// A ManifestEntry is one moved entry.
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

// Snapshots lists the archive, oldest first by the time in the manifest. A snapshot of
// another program has the time of its directory.
func (d *Dir) Snapshots(ctx context.Context) ([]Snapshot, error) {
	root, err := d.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	names, err := d.snapshotNames(root)
	if err != nil {
		return nil, err
	}
	var all []Snapshot
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, cancelledError(ctx, "list the archive")
		}
		s, err := openSnapshot(ctx, root, d.names.Archive, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // pruned meanwhile
		}
		if err != nil {
			return nil, d.failed("read snapshot "+repo.Path(name).String()+" in", err)
		}
		all = append(all, *s)
	}
	slices.SortStableFunc(all, func(a, b Snapshot) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// snapshotNames returns the sorted names of all snapshots.
func (d *Dir) snapshotNames(root *os.Root) ([]string, error) {
	info, err := root.Lstat(d.names.Archive)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, d.failed("look at the archive of", err)
	case !info.IsDir():
		return nil, d.notArchive()
	}
	entries, err := entriesOf(context.Background(), root, d.names.Archive)
	if err != nil {
		return nil, d.failed("list the archive of", err)
	}
	var names []string
	for _, e := range entries {
		if e.Kind == Directory && isSnapshot(e.Name) {
			names = append(names, e.Name)
		}
	}
	return names, nil
}

// isSnapshot reports whether a folder of the archive is a snapshot, by its name.
func isSnapshot(name string) bool { return !strings.HasPrefix(name, ".") && !isChange(name) }

// checkSnapshot returns an error unless name is a snapshot.
func (l *Locked) checkSnapshot(name string) error {
	err := checkName(name)
	if err == nil && !isSnapshot(name) {
		err = errName
	}
	var info fs.FileInfo
	if err == nil {
		info, err = l.root.Lstat(l.dir.names.Archive + "/" + name)
	}
	if err == nil && !info.IsDir() {
		err = errors.New("not a directory")
	}
	if err != nil {
		return fmt.Errorf("snapshot %s: %w", repo.Path(name), cause(err))
	}
	return nil
}

func (l *Locked) openSnapshot(name string) (*Snapshot, error) {
	return openSnapshot(context.Background(), l.root, l.dir.names.Archive, name)
}

// openSnapshot reads a snapshot. One of ken's has a manifest beside a folder of files. In
// another, all entries are moved files.
func openSnapshot(ctx context.Context, root *os.Root, archive, name string) (*Snapshot, error) {
	path := archive + "/" + name
	here, err := root.Lstat(path)
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Name: name, Time: here.ModTime().UTC(), dir: path}
	_, err = root.Lstat(path + manifestFile)
	if err == nil && isFolder(root, path+movedFiles) {
		s.dir = path + movedFiles
		if m, err := readManifest(root, path); err == nil {
			s.Manifest, s.Time = m, m.Time
		}
	}
	s.Files, err = entriesOf(ctx, root, s.dir)
	if s.dir == path {
		s.Files = slices.DeleteFunc(s.Files, func(e Entry) bool { return e.Name == foreignManifest })
	}
	return s, err
}

// readManifest reads the manifest of the snapshot at path.
func readManifest(root *os.Root, path string) (*Manifest, error) {
	dir, err := root.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	m := new(Manifest)
	err = readFile(dir, manifestFile[1:], func(f *os.File, info fs.FileInfo) error {
		b, err := readAll(f, info, maxManifest)
		if err != nil {
			return err
		}
		return json.Unmarshal(b, m)
	})
	if err == nil && (m.Version != manifestVersion || m.Time.IsZero()) {
		err = fmt.Errorf("unknown manifest version %d", m.Version)
	}
	return m, err
}

// manifest returns the manifest of the files that a change moved to path.
func (l *Locked) manifest(path string, c Change, files []Entry) ([]byte, error) {
	root, err := l.root.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	m := Manifest{
		Version: manifestVersion, Verb: c.Verb, Time: c.Time, WorkflowID: c.WorkflowID,
		Files: make([]ManifestEntry, len(files)),
	}
	why := make(map[string]Move, len(c.Moves))
	for _, move := range c.Moves {
		why[move.Name] = move
	}
	rest := int64(maxDigested)
	for i, e := range files {
		m.Files[i] = describe(root, e, why[e.Name])
		if e.Kind == Regular && e.Size <= rest { // a file that exceeds the rest has no digest
			rest -= e.Size
			m.Files[i].SHA256 = digestIn(root, ".", e.Name)
		}
	}
	b, err := json.Marshal(m)
	return append(b, '\n'), err
}

// describe returns the manifest entry of e, without its digest.
func describe(root *os.Root, e Entry, why Move) ManifestEntry {
	name := repo.Path(e.Name).JSON()
	m := ManifestEntry{
		Name: name.Path, B64: name.B64, Kind: e.Kind.String(), Size: e.Size, MTime: e.ModTime.UTC(),
		Bucket: why.Bucket, Reason: why.Reason,
	}
	if e.Kind == Symlink {
		m.Target, _ = root.Readlink(e.Name)
		if !utf8.ValidString(m.Target) {
			m.Target = strconv.Quote(m.Target)
		}
	}
	return m
}

// recorded returns the entries of the manifest by name.
func (s *Snapshot) recorded() map[string]ManifestEntry {
	recorded := make(map[string]ManifestEntry)
	if s.Manifest != nil {
		for _, m := range s.Manifest.Files {
			recorded[m.raw()] = m
		}
	}
	return recorded
}

// raw returns the name by its bytes, "" if it cannot be read.
func (m ManifestEntry) raw() string {
	raw, err := repo.PathJSON{Path: m.Name, B64: m.B64}.Raw()
	if err != nil {
		return ""
	}
	return string(raw)
}

// unaltered returns an error if a file in dir differs from what the manifest recorded. Without
// a digest its size and time decide.
func (l *Locked) unaltered(dir string, e Entry, recorded map[string]ManifestEntry) error {
	was, ok := recorded[e.Name]
	if !ok || e.Kind != Regular {
		return nil
	}
	unchanged := e.Size == was.Size && e.ModTime.Equal(was.MTime)
	if was.SHA256 != "" {
		unchanged = digestIn(l.root, dir, e.Name) == was.SHA256
	}
	if !unchanged {
		return fmt.Errorf("it was changed in the archive; copy it by hand from %s", repo.Path(dir+"/"+e.Name))
	}
	return nil
}

// restore moves files of a snapshot to the directory, unless their name exists there, or they
// differ from the manifest.
func (l *Locked) restore(s *Snapshot, r record, whole bool, out *Applied) error {
	recorded := s.recorded()
	back := r.back()
	for name := range recorded {
		if whole && !back[name] {
			addError(&out.NotRestored, name, errors.New("it is no longer in the archive"))
		}
	}
	for _, e := range s.Files {
		if !back[e.Name] {
			continue
		}
		err := l.checkOwned(e.Name)
		if err == nil {
			err = l.vacant(e.Name)
		}
		if err == nil {
			err = l.unaltered(s.dir, e, recorded)
		}
		if err == nil {
			err = l.rename(s.dir+"/"+e.Name, e.Name)
		}
		if err != nil {
			addError(&out.NotRestored, e.Name, fmt.Errorf("restore: %w", cause(err)))
			continue
		}
		out.Restored = append(out.Restored, e.Name)
	}
	return l.syncDirs(".", s.dir)
}

// vacant returns an error if name exists.
func (l *Locked) vacant(name string) error {
	there, err := l.exists(name)
	if there {
		return fs.ErrExist
	}
	return err
}

// trim takes the restored files out of the manifest of their snapshot, and removes the
// snapshot if it is empty.
func (l *Locked) trim(r record) error {
	path := l.dir.names.Archive + "/" + r.Restore
	if r.Restore == "" || !isFolder(l.root, path) {
		return nil // an earlier run removed it
	}
	s, err := l.openSnapshot(r.Restore)
	if err != nil {
		return err
	}
	restored := r.back()
	for _, e := range s.Files {
		delete(restored, e.Name)
	}
	left := len(s.Files)
	if s.Manifest != nil {
		s.Manifest.Files = slices.DeleteFunc(s.Manifest.Files, func(m ManifestEntry) bool { return restored[m.raw()] })
		left = max(left, len(s.Manifest.Files))
	}
	if left == 0 {
		return unlessLeftover(l.discard(path))
	}
	if s.Manifest == nil {
		return nil
	}
	b, err := json.Marshal(s.Manifest)
	if err != nil {
		return err
	}
	return l.replace(path, manifestFile[1:], append(b, '\n'), 0)
}

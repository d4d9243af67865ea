package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"ken/internal/atomicfile"
	"ken/internal/fault"
	"ken/internal/install"
	"ken/internal/repo"
)

// maxClient is the limit for the size of a client's file. That of Claude Code grows with use.
const maxClient = 64 << 20

// Clients finds, reads and changes the files of agents' clients.
type Clients struct {
	Root string // of the work tree; "" outside a repository
}

// Install adds ken to the files of a client, or removes it. It decides all changes before
// it writes the first; in a dry run it writes nothing.
func (s Clients) Install(_ context.Context, c install.Client, opts install.Options) (*install.ClientResult, error) {
	if opts.Scope == "" {
		opts.Scope = install.Project
	}
	done := &install.ClientResult{Client: c.Name, Scope: opts.Scope, Files: []install.FileResult{}, DryRun: opts.DryRun}
	var seen []*clientFile
	var plan []install.FileChange
	var files []install.ClientFile
	for _, f := range c.In(opts.Scope) {
		files = append(files, s.places(f, opts.Uninstall)...)
	}
	for _, f := range files {
		at, err := s.file(f)
		if err != nil {
			return nil, byHand(c, err)
		}
		decide := f.Install
		if opts.Uninstall {
			decide = f.Uninstall
		}
		change, err := decide(at.text)
		if err != nil {
			return nil, &fault.Error{Hint: fault.HintOf(err), Err: fmt.Errorf("read %s: %w", at.shown, err)}
		}
		out := install.FileResult{Path: at.shown, Action: change.Action, Note: change.Note}
		if opts.DryRun && change.Op != install.Nothing {
			out.Diff = install.Diff(at.shown, at.text, change.Text)
		}
		done.Files = append(done.Files, out)
		seen, plan = append(seen, at), append(plan, change)
	}
	if opts.DryRun {
		return done, nil
	}
	for i, change := range plan {
		if err := seen[i].apply(change); err != nil {
			return nil, seen[i].failed(err)
		}
	}
	return done, nil
}

// Status reports ken's entries in the files of all clients.
func (s Clients) Status(_ context.Context) []install.ClientStatus {
	var list []install.ClientStatus
	for _, c := range install.Clients() {
		for _, f := range c.Files {
			if f.Base == install.Work && s.Root == "" {
				continue
			}
			st := install.ClientStatus{Client: c.Name, Scope: f.Scope, Of: len(f.Parts), Server: f.Parts[0].Name != "", Reads: c.Reads}
			at, err := s.file(s.places(f, false)[0])
			if at != nil {
				st.Path = at.shown
			}
			if err == nil {
				st.Absent = at.text == nil
				if st.Parts, st.Foreign, err = f.CountParts(at.text); err != nil {
					err = fmt.Errorf("read %s: %w", at.shown, err)
				}
			}
			if err != nil {
				st.Broken, st.Named = err.Error(), at != nil && f.MentionsKen(at.text)
			}
			list = append(list, st)
		}
	}
	return list
}

// places returns the file of a client, or the one that older versions of the client use if
// only that exists. With all, it returns both if both exist, since ken may have been
// installed when only the older one did.
func (s Clients) places(f install.ClientFile, all bool) []install.ClientFile {
	older := f
	older.Path, older.Older = f.Older, ""
	base, err := s.base(f.Base)
	if err != nil || f.Older == "" || !exists(filepath.Join(base, filepath.FromSlash(f.Older))) {
		return []install.ClientFile{f}
	}
	switch there := exists(filepath.Join(base, filepath.FromSlash(f.Path))); {
	case !there:
		return []install.ClientFile{older}
	case all:
		return []install.ClientFile{f, older}
	}
	return []install.ClientFile{f}
}

// A clientFile is a client's file on disk.
type clientFile struct {
	base  string // a directory without links
	name  string // relative to base, with the separators of the system
	shown string
	stays string // a directory that is never removed
	text  []byte // nil if the file does not exist
	mode  fs.FileMode
}

// file reads a file of a client. It refuses links, at the file and in the directories
// between it and its base.
func (s Clients) file(f install.ClientFile) (*clientFile, error) {
	base, err := s.base(f.Base)
	if err != nil {
		return nil, err
	}
	at := &clientFile{base: base, name: filepath.FromSlash(f.Path), mode: 0o600, stays: base}
	if home, err := os.UserHomeDir(); err == nil && f.Base != install.Work && strings.HasPrefix(base, home+string(filepath.Separator)) {
		at.stays = home
	}
	at.shown = repo.Path(filepath.ToSlash(filepath.Join(base, at.name))).String()
	if f.Base == install.Work {
		at.shown, at.mode = f.Path, 0o644
	}
	root, err := os.OpenRoot(base)
	if errors.Is(err, fs.ErrNotExist) {
		return at, nil
	}
	if err != nil {
		return at, fmt.Errorf("read %s: %w", at.shown, err)
	}
	defer root.Close()
	for _, dir := range above(f.Path) {
		info, err := root.Lstat(filepath.FromSlash(dir))
		if errors.Is(err, fs.ErrNotExist) {
			return at, nil
		}
		if err := refused(at.shown, dir, info, err, dir != f.Path); err != nil {
			return at, err
		}
	}
	text, info, err := atomicfile.ReadIn(root, at.name, maxClient)
	if err != nil {
		return at, fmt.Errorf("read %s: %w", at.shown, err)
	}
	at.text, at.mode = append([]byte{}, text...), info.Mode().Perm()
	return at, nil
}

// above lists the directories above a path, and the path.
func above(p string) []string {
	var list []string
	for ; p != "."; p = path.Dir(p) {
		list = append([]string{p}, list...)
	}
	return list
}

// A linkError is a link at a file, or in a directory above it.
type linkError struct{ file, part string }

func (e *linkError) Error() string {
	return fmt.Sprintf("read %s: %s is a symbolic link", e.file, e.part)
}

// byHand adds to a [linkError] a hint on how to change the file by hand.
func byHand(c install.Client, err error) error {
	link, ok := errors.AsType[*linkError](err)
	if !ok {
		return err
	}
	return &fault.Error{
		Hint: "ken does not follow links; print the text to add to the target with: " +
			`(cd "$(mktemp -d)" && git init -q && ken install ` + c.Name + " --dry-run)",
		Err: link,
	}
}

// refused returns the error for a part of a path that is a link or of the wrong kind.
func refused(shown, part string, info fs.FileInfo, err error, dir bool) error {
	switch {
	case err != nil:
		return fmt.Errorf("read %s: %w", shown, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return &fault.Error{
			Hint: "replace the link with a file or a directory",
			Err:  &linkError{shown, part},
		}
	case dir && !info.IsDir():
		return &fault.Error{Hint: "move it away", Err: fmt.Errorf("read %s: %s is not a directory", shown, part)}
	case !dir && !info.Mode().IsRegular():
		return &fault.Error{Hint: "move it away", Err: fmt.Errorf("read %s: not a regular file", shown)}
	}
	return nil
}

// apply changes a file, unless it changed since it was read.
func (f *clientFile) apply(c install.FileChange) error {
	if c.Op == install.Nothing {
		return nil
	}
	dir := filepath.Join(f.base, filepath.Dir(f.name))
	if c.Op == install.Create {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	name := filepath.Base(f.name)
	now, _, err := atomicfile.ReadIn(root, name, maxClient)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if (err == nil) != (f.text != nil) || !bytes.Equal(now, f.text) {
		return &fault.Error{Hint: "run the command again", Err: errors.New("the file changed in the meantime")}
	}
	if c.Op != install.Remove {
		return atomicfile.WriteIn(root, name, c.Text, f.mode)
	}
	if err := root.Remove(name); err != nil {
		return err
	}
	// Remove directories that are now empty.
	for ; dir != f.stays && strings.HasPrefix(dir, f.stays); dir = filepath.Dir(dir) {
		if os.Remove(dir) != nil {
			break
		}
	}
	return nil
}

// failed returns the error for a file that could not be written, with a hint if the
// directory is read-only.
func (f *clientFile) failed(err error) error {
	hint := fault.HintOf(err)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		hint = "make the directory writable (chmod u+w " + fault.Quote(filepath.Join(f.base, filepath.Dir(f.name))) + "), then run the command again"
	}
	return &fault.Error{Hint: hint, Err: fmt.Errorf("write %s: %w", f.shown, err)}
}

// base returns the directory to which the paths of a client are relative.
func (s Clients) base(b install.Base) (string, error) {
	if b == install.Work {
		if s.Root == "" {
			return "", &fault.Error{
				Kind: fault.NoRepo,
				Hint: "run ken inside a repository, or install for all repositories: ken install CLIENT --user",
				Err:  errors.New("not a git repository"),
			}
		}
		return s.Root, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the home directory: %w", err)
	}
	switch b {
	case install.ClaudeFile:
		return or("CLAUDE_CONFIG_DIR", home), nil
	case install.ClaudeDir:
		return or("CLAUDE_CONFIG_DIR", filepath.Join(home, ".claude")), nil
	case install.CodexDir:
		return or("CODEX_HOME", filepath.Join(home, ".codex")), nil
	case install.ConfigDir:
		return or("XDG_CONFIG_HOME", filepath.Join(home, ".config")), nil
	case install.CodeDir:
		dir := or("XDG_CONFIG_HOME", filepath.Join(home, ".config"))
		switch runtime.GOOS {
		case "darwin":
			dir = filepath.Join(home, "Library", "Application Support")
		case "windows":
			dir = or("APPDATA", filepath.Join(home, "AppData", "Roaming"))
		}
		return filepath.Join(dir, "Code", "User"), nil
	default:
		return home, nil
	}
}

// or returns the directory in a variable, or dir if the variable has no absolute path.
func or(variable, dir string) string {
	if d := os.Getenv(variable); filepath.IsAbs(d) && !strings.ContainsRune(d, 0) {
		return d
	}
	return dir
}

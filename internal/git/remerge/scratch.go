package remerge

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"ken/internal/git/command"
	"ken/internal/git/objects"
	"ken/internal/repo"
)

// A scratch is a temporary git directory. It reads the objects of a source and writes its own. It has no configuration,
// attributes or refs except those of the source that change its history.
type scratch struct {
	git     command.Runner
	objects objects.Reader
}

// newScratch makes a temporary git directory.
func newScratch(src Source) (*scratch, error) {
	dir, err := os.MkdirTemp("", "ken-merge-")
	if err != nil {
		return nil, err
	}
	git := command.Runner{Root: dir, GitDir: dir, Detached: true}
	s := &scratch{git: git, objects: objects.Reader{Git: git, Format: src.Format}}
	if err := s.fill(src); err != nil {
		s.remove()
		return nil, err
	}
	return s, nil
}

// remove deletes the directory.
func (s *scratch) remove() { _ = os.RemoveAll(s.git.Root) } // a directory of our own, below that for temporary files

// fill writes the files of the git directory.
func (s *scratch) fill(src Source) error {
	config := "[core]\n\trepositoryformatversion = 0\n"
	if src.Format == repo.SHA256 {
		config = "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = sha256\n"
	}
	config += "[core]\n\tattributesFile = " + os.DevNull + "\n[gc]\n\tauto = 0\n"
	var refs strings.Builder
	for line := range strings.Lines(src.Replaced) {
		if words := strings.Fields(line); len(words) >= 2 {
			fmt.Fprintf(&refs, "%s %s\n", words[0], words[1])
		}
	}
	texts := map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": config, "packed-refs": refs.String(),
		"shallow": src.Shallow, "info/grafts": src.Grafts,
		"objects/info/alternates": quoteAlternate(src.Objects) + "\n",
	}
	for _, sub := range []string{"refs", "info", "objects/info"} {
		if err := os.MkdirAll(filepath.Join(s.git.Root, filepath.FromSlash(sub)), 0o700); err != nil {
			return err
		}
	}
	for name, text := range texts {
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(s.git.Root, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// quoteAlternate quotes the path of an object directory for the alternates file.
func quoteAlternate(path string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c >= 0x7f:
			fmt.Fprintf(&b, `\%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// withoutConfig is the environment in which git reads no configuration or attributes of the user or of
// the system.
var withoutConfig = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_ATTR_NOSYSTEM=1"}

package git

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"ken/internal/git/config"
	"ken/internal/repo"
)

// maxAttributes is the size of the largest attributes file that git reads.
const maxAttributes = 100 << 20

// attributeSources reports whether attributes may apply to any path. It also returns a digest of the attributes
// that are not in tracked files and of the settings for line endings, "" if there are none.
//
// It starts no process, so it does not know which config files git uses. It reads all candidates. An unused
// file costs one question to git; a missed file would make an answer wrong.
func (r *Repo) attributeSources(entries []repo.Entry) (attributed bool, digest string) {
	rootTracked := false
	for i := range entries {
		p := string(entries[i].Path)
		if !strings.HasSuffix(p, ".gitattributes") {
			continue
		}
		switch strings.TrimSuffix(p, ".gitattributes") {
		case "":
			rootTracked, attributed = true, true
		default:
			attributed = attributed || strings.HasSuffix(p, "/.gitattributes")
		}
	}
	files, settings, sure := r.attributeFiles()
	if !rootTracked {
		// Git also uses an untracked .gitattributes.
		files = append(files, filepath.Join(r.root, ".gitattributes"))
	}
	h := sha256.New()
	found := false
	for _, file := range files {
		b, _, err := readFile(file, maxAttributes)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular) {
			continue
		}
		found = true
		fmt.Fprintf(h, "%q %d %v\n", file, len(b), err)
		h.Write(b)
	}
	if !sure {
		found = true
		io.WriteString(h, "unsure\n") //nolint:errcheck // writing to a hash cannot fail
	}
	if !found && len(settings) == 0 {
		return attributed, ""
	}
	fmt.Fprintf(h, "%q\n", settings)
	return attributed || found, hex.EncodeToString(h.Sum(nil))
}

// attributeFiles lists the files outside the work tree that may have attributes, and the settings for line endings
// in the config files. It returns sure = false if a config file cannot be read.
func (r *Repo) attributeFiles() (files, settings []string, sure bool) {
	// Git for Windows has a system-wide file in a place that only git knows.
	sure = runtime.GOOS != "windows" && !r.unknownLayout
	files = []string{filepath.Join(r.common, "info", "attributes")}
	if off, _ := config.ParseBool(os.Getenv("GIT_ATTR_NOSYSTEM")); !off {
		files = append(files, "/etc/gitattributes", "/usr/local/etc/gitattributes", "/opt/homebrew/etc/gitattributes")
	}
	if dir := xdgDir(); dir != "" {
		files = append(files, filepath.Join(dir, "attributes"))
	}
	s := configSearch{key: "core.attributesfile", root: r.root, sure: sure}
	s.take(r.own, filepath.Join(r.common, "config"), 0)
	for _, f := range userConfigFiles() {
		s.visit(f, 0)
	}
	files = append(files, s.found...)
	slices.Sort(files)
	return slices.Compact(files), s.settings, s.sure
}

// lineEndingSettings are the settings that convert line endings.
var lineEndingSettings = []string{"core.autocrlf", "core.eol"}

// A configSearch finds the values of a setting in config files and the files that they include. It follows
// every include, even if its condition is false.
type configSearch struct {
	key      string
	root     string
	found    []string
	settings []string // the values of lineEndingSettings
	sure     bool
}

// maxIncludes is the depth of includes that git allows.
const maxIncludes = 10

func (s *configSearch) visit(file string, depth int) {
	if depth > maxIncludes {
		s.sure = false
		return
	}
	c, err := readConfig(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotRegular):
	case err != nil:
		s.sure = false
	default:
		s.take(c, file, depth)
	}
}

func (s *configSearch) take(c config.Settings, file string, depth int) {
	for _, one := range c.List {
		switch {
		case slices.Contains(lineEndingSettings, one.Key):
			s.settings = append(s.settings, one.Key+"="+one.Value)
		case one.Key == s.key:
			if path, ok := expand(one.Value, s.root); ok {
				s.found = append(s.found, path)
			} else {
				s.sure = false
			}
		case one.Key == "include.path", strings.HasPrefix(one.Key, "includeif.") && strings.HasSuffix(one.Key, ".path"):
			if path, ok := expand(one.Value, filepath.Dir(file)); ok {
				s.visit(path, depth+1)
			} else {
				s.sure = false
			}
		}
	}
}

// expand returns the file name for a path in a config file. A relative path is relative to base. It returns
// ok = false if only git can expand the path.
func expand(path, base string) (string, bool) {
	switch {
	case path == "":
		return "", false
	case strings.HasPrefix(path, "~/"):
		home, err := os.UserHomeDir()
		return filepath.Join(home, path[2:]), err == nil
	case path[0] == '~', strings.HasPrefix(path, "%("):
		return "", false
	case filepath.IsAbs(path):
		return path, true
	}
	return filepath.Join(base, filepath.FromSlash(path)), true
}

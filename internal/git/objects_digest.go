package git

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// ObjectsDigest identifies which objects git has, by the times of the directories that contain
// them: it changes when an object comes or goes. It is "" if one of these directories changed
// after recent, since another change may follow within the same tick of the clock, or if they
// cannot be listed.
func (r *Repo) ObjectsDigest(recent time.Time) string {
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", os.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"))
	todo := []string{filepath.Join(r.common, "objects")}
	seen := make(map[string]bool)
	for len(todo) > 0 {
		dir := filepath.Clean(todo[0])
		todo = todo[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		entries, err := os.ReadDir(dir)
		if err != nil {
			return ""
		}
		for _, e := range entries {
			if !e.IsDir() {
				continue
			}
			info, err := e.Info()
			if err != nil || info.ModTime().After(recent) {
				return ""
			}
			fmt.Fprintf(h, "%q %d\n", filepath.Join(dir, e.Name()), info.ModTime().UnixNano())
		}
		for line := range strings.Lines(alternates(dir)) {
			line = strings.TrimSpace(line)
			if line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			if !filepath.IsAbs(line) {
				line = filepath.Join(dir, line)
			}
			todo = append(todo, line)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// alternates returns the file that names further directories of objects, "" if there is none.
func alternates(objects string) string {
	b, _, err := readFile(filepath.Join(objects, "info", "alternates"), maxAttributes)
	if err != nil {
		return ""
	}
	return string(b)
}

package git

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime"
)

// IgnoreDigest returns a digest of the ignore rules outside of the work tree. It changes when they change.
// It is "" if only git can find them.
func (r *Repo) IgnoreDigest() string {
	s := configSearch{key: "core.excludesfile", root: r.root, sure: runtime.GOOS != "windows" && !r.unknownLayout}
	s.take(r.own, filepath.Join(r.common, "config"), 0)
	for _, f := range userConfigFiles() {
		s.visit(f, 0)
	}
	if !s.sure {
		return ""
	}
	files := append(s.found, filepath.Join(r.common, "info", "exclude"))
	if dir := xdgDir(); dir != "" {
		files = append(files, filepath.Join(dir, "ignore"))
	}
	h := sha256.New()
	for _, file := range files {
		b, _, err := readFile(file, maxAttributes)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, errNotRegular) {
			continue
		}
		fmt.Fprintf(h, "%q %d %v\n", file, len(b), err)
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil))
}

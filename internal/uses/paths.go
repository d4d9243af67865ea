package uses

import (
	"path"
	"strings"

	"ken/internal/repo"
)

// join puts a relative path behind a directory. It fails when the result would be outside
// of the repository.
func join(dir repo.Path, rel string) (repo.Path, bool) {
	if strings.HasPrefix(rel, "/") || strings.ContainsRune(rel, '\\') {
		return "", false
	}
	p := path.Join(string(dir), rel)
	if p == ".." || strings.HasPrefix(p, "../") {
		return "", false
	}
	if p == "." {
		return "", true
	}
	return repo.Path(p), true
}

// under joins a path below a directory that is known to be plain.
func under(dir repo.Path, rel string) repo.Path {
	switch {
	case dir == "":
		return repo.Path(rel)
	case rel == "":
		return dir
	}
	return dir + "/" + repo.Path(rel)
}

// lastPart returns the part after the last separator.
func lastPart(name, sep string) string {
	if i := strings.LastIndex(name, sep); i >= 0 {
		return name[i+len(sep):]
	}
	return name
}

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

// maxLinks limits how many symbolic links a path may lead through.
const maxLinks = 10

// behindLinks follows the tracked symbolic links that a path has, at its end or above it. A path that leads out of the
// repository, or in a circle, stays as it is.
func (r *Resolver) behindLinks(p repo.Path) repo.Path {
	if len(r.links) == 0 {
		return p
	}
	at := p
	for range maxLinks {
		link := at
		for link != "" && r.links[link] == "" {
			link = link.Dir()
		}
		if link == "" {
			return at
		}
		target, ok := join(link.Dir(), r.links[link])
		if !ok {
			return p
		}
		at = under(target, strings.TrimPrefix(string(at[len(link):]), "/"))
	}
	return p
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

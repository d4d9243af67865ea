package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ken/internal/git/config"
	"ken/internal/repo"
)

const maxConfig = 16 << 20

// knownExtensions are the extensions under which HEAD, refs and index are what
// this package takes them for.
var knownExtensions = []string{
	"noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig",
	"objectformat", "refstorage", "relativeworktrees",
}

// readOwnConfig reads the repository's own config files. What is in them that
// we do not understand makes the repository strange, which leaves it to git to
// answer or to refuse.
func (r *Repo) readOwnConfig() error {
	r.format = repo.SHA1
	file := filepath.Join(r.common, "config")
	c, err := readConfig(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errConfig):
		r.strange = true
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", file, cause(err))
	}
	r.own = c
	// The format is judged by this file alone, as git does: no per-worktree
	// config and no include can change it.
	r.judgeFormat()
	if on, _ := c.Bool("extensions.worktreeconfig"); !on {
		return nil
	}
	file = filepath.Join(r.gitDir, "config.worktree")
	more, err := readConfig(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errConfig):
		r.strange = true
	case err != nil:
		return fmt.Errorf("read %s: %w", file, cause(err))
	}
	r.own.List = append(r.own.List, more.List...)
	r.own.Includes = r.own.Includes || more.Includes
	return nil
}

// judgeFormat sets the object format, and whether the repository is strange.
func (r *Repo) judgeFormat() {
	version, _ := r.own.Last("core.repositoryformatversion")
	if version != "" && version != "0" && version != "1" {
		r.strange = true
	}
	for _, s := range r.own.List {
		name, ok := strings.CutPrefix(s.Key, "extensions.")
		if !ok {
			continue
		}
		switch {
		case !slices.Contains(knownExtensions, name):
			r.strange = true
		case name == "refstorage" && s.Value != "files":
			r.strange = true
		case name == "objectformat" && s.Value == "sha256":
			r.format = repo.SHA256
		case name == "objectformat" && s.Value != "sha1":
			r.strange = true
		case name == "objectformat":
			r.format = repo.SHA1
		}
	}
	if r.format == repo.SHA256 && version != "1" {
		r.strange = true // git refuses such a repository, in its own words
	}
}

// errConfig marks a config file that breaks the grammar.
var errConfig = errors.New("not understood")

func readConfig(file string) (config.Settings, error) {
	b, _, err := readFile(file, maxConfig)
	if err != nil {
		return config.Settings{}, err
	}
	c, err := config.Parse(string(b))
	if err != nil {
		return config.Settings{}, fmt.Errorf("%w: %w", errConfig, err)
	}
	return c, nil
}

// everything returns all the configuration that git reads for this repository,
// asking git once.
func (r *Repo) everything(ctx context.Context) (config.Settings, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked {
		return r.full, nil
	}
	out, err := r.read(ctx, nil, "config", "-z", "--includes", "--list")
	if err != nil {
		return config.Settings{}, err
	}
	r.full, err = config.ParseList(out)
	if err != nil {
		return config.Settings{}, err
	}
	r.asked = true
	return r.full, nil
}

// shared returns the configuration to look up what belongs to the repository
// rather than to its user: its own files, or everything where these refer to
// others or cannot be read by us.
func (r *Repo) shared(ctx context.Context) (config.Settings, error) {
	if r.own.Includes || r.strange {
		return r.everything(ctx)
	}
	return r.own, nil
}

// symlinks returns core.symlinks, which git init writes only where it is false.
func (r *Repo) symlinks(ctx context.Context) (bool, error) {
	c, err := r.shared(ctx)
	if err != nil {
		return false, err
	}
	on, ok := c.Bool("core.symlinks")
	return on || !ok, nil
}

// fileMode returns core.fileMode.
func (r *Repo) fileMode(ctx context.Context) (bool, error) {
	c, err := r.shared(ctx)
	if err != nil {
		return false, err
	}
	if on, ok := c.Bool("core.filemode"); ok {
		return on, nil
	}
	// git init always writes it; a repository made by something else may leave
	// it to the user's config.
	if c, err = r.everything(ctx); err != nil {
		return false, err
	}
	on, ok := c.Bool("core.filemode")
	return on || !ok, nil
}

// userConfigFiles returns where the user's and the system's config files may
// lie. More than git reads is fine: they are only looked at for what could
// apply.
func userConfigFiles() []string {
	var files []string
	if f := os.Getenv("GIT_CONFIG_SYSTEM"); f != "" {
		files = append(files, f)
	} else if off, _ := config.ParseBool(os.Getenv("GIT_CONFIG_NOSYSTEM")); !off {
		files = append(files, "/etc/gitconfig", "/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig")
	}
	if f, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		if f != "" {
			files = append(files, f)
		}
		return files
	}
	if dir := xdgDir(); dir != "" {
		files = append(files, filepath.Join(dir, "config"))
	}
	if home, err := os.UserHomeDir(); err == nil {
		files = append(files, filepath.Join(home, ".gitconfig"))
	}
	return files
}

// xdgDir returns the directory of the user's git files, "" when there is none.
func xdgDir() string {
	if dir := os.Getenv("XDG_CONFIG_HOME"); dir != "" {
		return filepath.Join(dir, "git")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".config", "git")
}

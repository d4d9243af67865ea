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

// knownExtensions are the extensions of the repository format that this package understands.
var knownExtensions = []string{
	"noop", "noop-v1", "preciousobjects", "partialclone", "worktreeconfig",
	"objectformat", "refstorage", "relativeworktrees",
}

// readOwnConfig reads the repository's own config files. If they have something that this package does not
// understand, it sets unknownLayout, and git answers every question.
func (r *Repo) readOwnConfig() error {
	r.format = repo.SHA1
	file := filepath.Join(r.common, "config")
	c, err := readConfig(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case errors.Is(err, errConfig):
		r.unknownLayout = true
		return nil
	case err != nil:
		return fmt.Errorf("read %s: %w", file, cause(err))
	}
	r.own = c
	// As in git, only this file sets the format. A config file of a worktree or an included file cannot
	// change it.
	r.judgeFormat()
	if on, _ := c.Bool("extensions.worktreeconfig"); !on {
		return nil
	}
	file = filepath.Join(r.gitDir, "config.worktree")
	more, err := readConfig(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errConfig):
		r.unknownLayout = true
	case err != nil:
		return fmt.Errorf("read %s: %w", file, cause(err))
	}
	r.own.List = append(r.own.List, more.List...)
	r.own.Includes = r.own.Includes || more.Includes
	return nil
}

// judgeFormat sets the object format and unknownLayout.
func (r *Repo) judgeFormat() {
	version, _ := r.own.Last("core.repositoryformatversion")
	if version != "" && version != "0" && version != "1" {
		r.unknownLayout = true
	}
	for _, s := range r.own.List {
		name, ok := strings.CutPrefix(s.Key, "extensions.")
		if !ok {
			continue
		}
		switch {
		case !slices.Contains(knownExtensions, name):
			r.unknownLayout = true
		case name == "refstorage" && s.Value != "files":
			r.unknownLayout = true
		case name == "objectformat" && s.Value == "sha256":
			r.format = repo.SHA256
		case name == "objectformat" && s.Value != "sha1":
			r.unknownLayout = true
		case name == "objectformat":
			r.format = repo.SHA1
		}
	}
	if r.format == repo.SHA256 && version != "1" {
		r.unknownLayout = true // git refuses such a repository with its own message
	}
}

// errConfig marks a config file with a syntax error.
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

// allConfig returns all settings that git uses for this repository. It runs git once.
func (r *Repo) allConfig(ctx context.Context) (config.Settings, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.asked {
		return r.full, nil
	}
	out, err := r.git().Read(ctx, nil, "config", "-z", "--includes", "--list")
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

// repoConfig returns the settings of the repository. They come from its own config files, or from git if these
// include other files or the layout is unknown.
func (r *Repo) repoConfig(ctx context.Context) (config.Settings, error) {
	if r.own.Includes || r.unknownLayout {
		return r.allConfig(ctx)
	}
	return r.own, nil
}

// symlinks returns core.symlinks. git init writes it only if it is false.
func (r *Repo) symlinks(ctx context.Context) (bool, error) {
	c, err := r.repoConfig(ctx)
	if err != nil {
		return false, err
	}
	on, ok := c.Bool("core.symlinks")
	return on || !ok, nil
}

// fileMode returns core.fileMode.
func (r *Repo) fileMode(ctx context.Context) (bool, error) {
	c, err := r.repoConfig(ctx)
	if err != nil {
		return false, err
	}
	if on, ok := c.Bool("core.filemode"); ok {
		return on, nil
	}
	// git init always writes it. Other programs may create a repository without it; then the user's
	// config counts.
	if c, err = r.allConfig(ctx); err != nil {
		return false, err
	}
	on, ok := c.Bool("core.filemode")
	return on || !ok, nil
}

// userConfigFiles returns the possible config files of the user and of the system. It may return more files than
// git reads.
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

// xdgDir returns the directory of the user's git files, "" if there is none.
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

// Sparse reports whether the checkout may leave out files that git tracks.
func (r *Repo) Sparse() bool {
	_, err := os.Lstat(filepath.Join(r.gitDir, "info", "sparse-checkout"))
	return err == nil
}

// Command release makes one archive per platform, and one list of checksums. An archive
// has the program, the licences of all code in it, its manual pages and completions.
//
//	go run ./release -version v1.2.3 -o dist
//
// The same commit gives the same archives: nothing in them knows when or where they
// were made.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"time"
)

// A platform is one that an archive is made for.
type platform struct{ os, arch string }

var platforms = []platform{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

func (p platform) String() string { return p.os + "/" + p.arch }

func main() {
	version := flag.String("version", "", "the `version` to build; what git describes when empty")
	out := flag.String("o", "dist", "the `directory` for the archives")
	only := flag.String("only", "", "one `platform` alone, as in linux/amd64")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *version, *out, *only); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, version, out, only string) error {
	if version == "" {
		described, err := output(ctx, "git", "describe", "--always", "--dirty", "--tags")
		if err != nil {
			return err
		}
		version = described
	}
	made, err := commitTime(ctx)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	shared, err := accompany(version, made)
	if err != nil {
		return err
	}
	var archives []string
	for _, p := range platforms {
		if only != "" && only != p.String() {
			continue
		}
		name, err := pack(ctx, p, version, out, made, shared)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		fmt.Println(name)
		archives = append(archives, name)
	}
	if len(archives) == 0 {
		return fmt.Errorf("no platform is called %q", only)
	}
	script, err := os.ReadFile(filepath.Join("release", "install.sh"))
	if err != nil {
		return err
	}
	err = write(filepath.Join(out, "install.sh"), func(f *os.File) error {
		_, err := f.Write(script)
		return err
	})
	return errors.Join(err, sums(out, archives))
}

// commitTime is the time of HEAD, which everything in an archive bears.
func commitTime(ctx context.Context) (time.Time, error) {
	text, err := output(ctx, "git", "log", "-1", "--format=%cI")
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse(time.RFC3339, text)
}

// pack builds for a platform and returns the archive's name in out.
func pack(ctx context.Context, p platform, version, out string, made time.Time, shared []file) (string, error) {
	dir, err := os.MkdirTemp("", "release")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	binary := "ken"
	if p.os == "windows" {
		binary += ".exe"
	}
	tags, err := os.ReadFile(filepath.Join("internal", "outline", "syntax", "tags"))
	if err != nil {
		return "", err
	}
	linkedTags := strings.Join(strings.Fields(string(tags)), ",")
	thirdParty, err := notices(ctx, p, linkedTags)
	if err != nil {
		return "", err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags", linkedTags,
		"-ldflags", "-s -w -X ken/internal/app.Version="+version, "-o", filepath.Join(dir, binary), "./cmd/ken")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+p.os, "GOARCH="+p.arch)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("build: %w", err)
	}
	program, err := os.ReadFile(filepath.Join(dir, binary))
	if err != nil {
		return "", err
	}
	stem := fmt.Sprintf("ken_%s_%s_%s", strings.TrimPrefix(version, "v"), p.os, p.arch)
	files := append([]file{{name: binary, mode: 0o755, content: program}, thirdParty}, shared...)
	if p.os == "windows" {
		return stem + ".zip", write(filepath.Join(out, stem+".zip"), zipped(stem, files, made))
	}
	return stem + ".tar.gz", write(filepath.Join(out, stem+".tar.gz"), tarred(stem, files, made))
}

// write replaces a file with what fill writes, whole or not at all.
func write(name string, fill func(*os.File) error) (err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".release-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	if err := errors.Join(fill(f), f.Chmod(fs.FileMode(0o644)), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

func output(ctx context.Context, name string, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"ken/internal/agenthook"
	"ken/internal/fault"
	"ken/internal/git"
	"ken/internal/ken"
	"ken/internal/session"
)

// answerHook answers a hook of an agent's client with the current state. Outside a
// repository the answer is empty.
func answerHook(ctx context.Context, dir string, e agenthook.Event, c agenthook.Input) (said string, err error) {
	where, err := hookDir(ctx, dir, c)
	if err != nil || where == "" {
		return "", err
	}
	w, err := ken.Open(ctx, ken.Options{Dir: where})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if c.Session == "" {
		c.Session = session.ID()
	}
	file := session.LogIn(w.Git.GitDir(), c.Session)
	call := &agenthook.Call{Features: hookFeatures(w), Memory: agenthook.ParseMemory(file.Read(agenthook.MaxMemory))}
	if end, ok := ctx.Deadline(); ok {
		call.Left = max(time.Until(end), 1)
	}
	if e == agenthook.SessionStart || e == agenthook.SubagentStart {
		session.RemoveOld(w.Git.GitDir(), time.Now())
	}
	said, err = call.Answer(ctx, e, c)
	if err != nil {
		return "", err
	}
	return said, file.Append(call.NewLines(), agenthook.MaxMemory)
}

// hookFeatures returns the features that hooks ask.
func hookFeatures(w *ken.Repository) agenthook.Features {
	return agenthook.Features{
		Sources: w.TreeSources(), Documents: w.Documents(), Surveys: w.Surveys(), Spec: w.Spec(), Memories: w.Memories,
	}
}

// hookDir returns the directory for an input: that of its first file, or that of the agent
// if it names no file. It returns "" outside a repository, and for a file outside the
// agent's repository and its worktrees.
func hookDir(ctx context.Context, dir string, c agenthook.Input) (string, error) {
	if dir == "" {
		dir = "."
	}
	if info, err := os.Stat(c.Dir); c.Dir != "" && filepath.IsAbs(c.Dir) && err == nil && info.IsDir() {
		dir = c.Dir
	}
	g, err := git.Open(ctx, dir)
	if err != nil {
		if fault.KindOf(err) == fault.NoRepo {
			err = nil
		}
		return "", err
	}
	if len(c.Paths) == 0 || !filepath.IsAbs(c.Paths[0]) {
		return dir, nil
	}
	at := git.ExistingDir(filepath.Dir(c.Paths[0]))
	other, err := git.Open(ctx, at)
	if err != nil && ctx.Err() != nil {
		return "", err // timed out before ken knew whose file it is
	}
	if err != nil || other.CommonDir() != g.CommonDir() {
		return "", nil
	}
	return at, nil
}

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ken/internal/fault"
	"ken/internal/git/command"
	"ken/internal/repo"
)

// CheckRemote refuses a remote that the repository does not configure. The name can come from a
// committed file, and git would accept a path, an address or an option instead of a name.
func (r *Repo) CheckRemote(ctx context.Context, remote string) error {
	c, err := r.allConfig(ctx)
	if err != nil {
		return err
	}
	_, configured := c.Last("remote." + remote + ".url")
	if configured && validRef("refs/remotes/"+remote) && !strings.HasPrefix(remote, "-") {
		return nil
	}
	var names []string
	for _, s := range c.List {
		name, ok := strings.CutPrefix(s.Key, "remote.")
		if ok && strings.HasSuffix(name, ".url") {
			names = append(names, strings.TrimSuffix(name, ".url"))
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	hint := "add a remote: git remote add origin URL"
	if len(names) > 0 {
		hint = "name a remote of this repository: " + strings.Join(names, ", ")
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("unknown remote %q", remote)}
}

// A RefMove moves a ref from one commit to another; the zero ID means that there is no ref.
type RefMove struct {
	Ref      string
	From, To repo.ID
}

// MoveRefs moves all refs or none. It reports false if another process has moved one of them.
func (r *Repo) MoveRefs(ctx context.Context, moves ...RefMove) (moved bool, err error) {
	name := func(id repo.ID) string {
		if id.IsZero() {
			return r.noObject()
		}
		return id.String()
	}
	var in strings.Builder
	for _, m := range moves {
		if m.From != m.To {
			fmt.Fprintf(&in, "update %s %s %s\n", m.Ref, name(m.To), name(m.From))
		}
	}
	if in.Len() == 0 {
		return true, nil
	}
	if _, err = r.git().Read(ctx, strings.NewReader(in.String()), "update-ref", "--stdin"); err == nil {
		return true, nil
	}
	for _, m := range moves {
		now, _, refErr := r.ResolveRef(ctx, m.Ref)
		if refErr == nil && now != m.From {
			return false, nil
		}
	}
	return false, err
}

// runRemote runs a git command that contacts a remote.
func (r *Repo) runRemote(ctx context.Context, remote string, args ...string) (out string, status int, said string, err error) {
	c, err := r.allConfig(ctx)
	if err != nil {
		return "", 0, "", err
	}
	// git has no terminal here, so ssh must not ask for a password.
	var env []string
	_, own := c.Last("core.sshcommand")
	if os.Getenv("GIT_SSH") == "" && os.Getenv("GIT_SSH_COMMAND") == "" && !own {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	if mirror, _ := c.Bool("remote." + remote + ".mirror"); mirror {
		// git refuses to push a single ref to a mirror.
		env = append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=remote."+remote+".mirror", "GIT_CONFIG_VALUE_0=false")
	}
	return r.git().Collect(ctx, command.Call{Args: args, Env: env, Network: true})
}

// failedRemote is the error of a git command that could not reach the remote.
func (r *Repo) failedRemote(remote string, args []string, status int, said string) error {
	err := r.git().Failed(args, status, said)
	if fault.HintOf(err) != "" {
		return err
	}
	return &fault.Error{Hint: "check the remote: git ls-remote " + fault.Quote(remote), Err: err}
}

// fetchTries limits the attempts of a fetch while another process of the same clone fetches:
// both write the same ref.
const fetchTries = 5

// FetchRef fetches one ref of a remote with its whole history, also in a shallow or partial
// clone, and stores it under another name. If the remote does not have the ref, FetchRef deletes
// the local one and returns the zero ID.
func (r *Repo) FetchRef(ctx context.Context, remote, ref, into string) (repo.ID, error) {
	args := []string{
		"fetch", "--progress", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-recurse-submodules", "--no-filter", "--refmap=",
		"--no-auto-maintenance", "--no-write-commit-graph",
		remote, "+" + ref + ":" + into,
	}
	_, status, said, err := r.runRemote(ctx, remote, args...)
	for range fetchTries {
		if err != nil || status == 0 || !wroteFirst(said) {
			break
		}
		_, status, said, err = r.runRemote(ctx, remote, args...)
	}
	switch {
	case err != nil:
		return repo.ID{}, err
	case status != 0 && strings.Contains(said, "couldn't find remote ref "+ref):
		_, err = r.git().Read(ctx, nil, "update-ref", "-d", into)
		return repo.ID{}, err
	case status != 0:
		return repo.ID{}, r.failedRemote(remote, []string{"fetch"}, status, said)
	}
	id, _, err := r.ResolveRef(ctx, into)
	return id, err
}

// A PushTip is a commit for a ref of a remote.
type PushTip struct {
	Tip     repo.ID
	Replace bool    // the tip need not contain Over
	Over    repo.ID // with Replace: the commit that the remote still has to have
}

// PushRef pushes a commit to a ref of a remote. It reports false if the remote has another
// commit by now. An error says why the remote refuses.
func (r *Repo) PushRef(ctx context.Context, remote, ref string, p PushTip) (accepted bool, err error) {
	args := []string{"push", "--porcelain", "--progress", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"}
	if p.Replace {
		args = append(args, "--force-with-lease="+ref+":"+p.Over.String())
	}
	args = append(args, remote, p.Tip.String()+":"+ref)
	out, status, said, err := r.runRemote(ctx, remote, args...)
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(out) {
		word := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(word) != 3 || !strings.HasSuffix(word[1], ":"+ref) {
			continue
		}
		switch {
		case word[0] != "!":
			return true, nil
		case p.Replace && strings.HasPrefix(word[2], "[rejected] (stale info)"):
			// git says this after another push, and also if the remote hides the ref. A push that
			// replaces nothing tells which.
			return r.PushRef(ctx, remote, ref, PushTip{Tip: p.Tip})
		case strings.HasPrefix(word[2], "[rejected]"), wroteFirst(word[2]):
			return false, nil
		default:
			return false, refused(ref, word[2], said)
		}
	}
	if status == 0 {
		return false, errors.New("git push: no answer for the ref")
	}
	return false, r.failedRemote(remote, args, status, said)
}

// wroteFirst reports whether git did not write a ref because another process wrote it first.
func wroteFirst(summary string) bool {
	reasons := []string{"cannot lock ref", "failed to update ref", "incorrect old value", "reference already exists", "failed to lock"}
	return slices.ContainsFunc(reasons, func(reason string) bool { return strings.Contains(summary, reason) })
}

// progress matches a progress line of git: "Resolving deltas: 100% (7/7), done."
var progress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Za-z ]+: +\d+(%|, done|$)`) })

// refused returns the error for a remote that refuses a ref, with the remote's own message.
func refused(ref, summary, output string) error {
	reason := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(summary, "[remote rejected] "), "("), ")")
	for _, line := range strings.FieldsFunc(output, func(r rune) bool { return r == '\n' || r == '\r' }) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "remote: ")
		if text = strings.TrimSpace(text); ok && text != "" && !strings.HasPrefix(text, "error: ") && !progress().MatchString(text) {
			reason += ": " + command.ErrorLine(text)
			break
		}
	}
	return &fault.Error{
		Hint: "ask the administrator of the remote to accept pushes to " + ref,
		Err:  fmt.Errorf("the remote refuses the push: %s", command.ErrorLine(reason)),
	}
}

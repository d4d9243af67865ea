package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"

	"ken/internal/fault"
	"ken/internal/repo"
	"ken/internal/share"
)

// scratchRef is the branch that git fast-import is told to write. It is deleted within
// the same run, so that there never is one.
const scratchRef = "refs/ken/scratch"

// Write implements [share.Ledger]. One run of git fast-import reads the directories that
// change, and writes these and the new files, however many others there are.
func (l Ledger) Write(ctx context.Context, c share.Commit) (repo.ID, error) {
	name, email, _, err := l.committer(ctx)
	if err != nil {
		return repo.ID{}, err
	}
	var in bytes.Buffer
	fmt.Fprintf(&in, "feature done\ncommit %s\nmark :1\ncommitter %s <%s> %d +0000\ndata %d\n%s\n", scratchRef, name, email, c.At.Unix(), len(c.Message), c.Message)
	for i, parent := range c.Parents {
		word := "merge"
		if i == 0 {
			word = "from"
		}
		fmt.Fprintf(&in, "%s %s\n", word, parent)
	}
	if c.Afresh {
		in.WriteString("deleteall\n")
	}
	for _, dir := range slices.Sorted(maps.Keys(c.Trees)) {
		fmt.Fprintf(&in, "M 040000 %s %s\n", c.Trees[dir], dir)
	}
	for _, p := range c.Remove {
		fmt.Fprintf(&in, "D %s\n", importPath(p))
	}
	for _, p := range c.Put {
		if p.Data == nil {
			fmt.Fprintf(&in, "M 100644 %s %s\n", p.ID, p.Path)
			continue
		}
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n", p.Path, len(p.Data))
		in.Write(p.Data)
		in.WriteByte('\n')
	}
	fmt.Fprintf(&in, "get-mark :1\nreset %s\nfrom %s\ndone\n", scratchRef, strings.Repeat("0", 2*l.r.format.Size()))
	ids, err := l.fastImport(ctx, in.Bytes(), 1)
	if err != nil {
		return repo.ID{}, err
	}
	if c.Sign {
		return l.sign(ctx, ids[0], c)
	}
	return ids[0], nil
}

// Keep implements [share.Ledger].
func (l Ledger) Keep(ctx context.Context, contents [][]byte) ([]repo.ID, error) {
	if len(contents) == 0 {
		return nil, nil
	}
	var in bytes.Buffer
	in.WriteString("feature done\n")
	for i, b := range contents {
		fmt.Fprintf(&in, "blob\nmark :%d\ndata %d\n", i+1, len(b))
		in.Write(b)
		in.WriteByte('\n')
	}
	for i := range contents {
		fmt.Fprintf(&in, "get-mark :%d\n", i+1)
	}
	in.WriteString("done\n")
	return l.fastImport(ctx, in.Bytes(), len(contents))
}

// importPath quotes a path that may hold anything.
func importPath(p repo.Path) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := range len(p) {
		switch b := p[i]; {
		case b == '"' || b == '\\':
			out.Write([]byte{'\\', b})
		case b < ' ' || b >= 0x7f:
			fmt.Fprintf(&out, `\%03o`, b)
		default:
			out.WriteByte(b)
		}
	}
	out.WriteByte('"')
	return out.String()
}

// sign makes a commit again, with a signature.
func (l Ledger) sign(ctx context.Context, unsigned repo.ID, c share.Commit) (repo.ID, error) {
	name, email, _, err := l.committer(ctx)
	if err != nil {
		return repo.ID{}, err
	}
	args := []string{"commit-tree", "-S", unsigned.String() + "^{tree}"}
	for _, p := range c.Parents {
		args = append(args, "-p", p.String())
	}
	at := fmt.Sprintf("@%d +0000", c.At.Unix())
	who := []string{
		"GIT_AUTHOR_NAME=" + name, "GIT_AUTHOR_EMAIL=" + email, "GIT_AUTHOR_DATE=" + at,
		"GIT_COMMITTER_NAME=" + name, "GIT_COMMITTER_EMAIL=" + email, "GIT_COMMITTER_DATE=" + at,
	}
	out := &bounded{max: maxStderr}
	status, stderr, err := l.r.run(ctx, call{args: args, stdin: strings.NewReader(c.Message), stdout: out, env: who})
	if err == nil && status != 0 {
		err = l.r.failed(args, status, stderr)
	}
	if err != nil {
		return repo.ID{}, &fault.Error{
			Hint: "see whether git can sign: git commit-tree -S HEAD^{tree} -m test",
			Err:  fmt.Errorf("sign what is to be shared: %w", err),
		}
	}
	return repo.ParseID(strings.TrimSpace(out.String()))
}

// committer returns who commits, as git would find out, and whether commits are signed.
func (l Ledger) committer(ctx context.Context) (name, email string, signs bool, err error) {
	c, err := l.r.everything(ctx)
	if err != nil {
		return "", "", false, err
	}
	name = cmp.Or(cleanName(os.Getenv("GIT_COMMITTER_NAME")), c.person("committer.name", "user.name"))
	email = cmp.Or(cleanName(os.Getenv("GIT_COMMITTER_EMAIL")), c.person("committer.email", "user.email"))
	if name == "" || email == "" {
		return "", "", false, &fault.Error{
			Hint: `git config user.name "Your Name" && git config user.email you@example.org`,
			Err:  errors.New("git does not know who you are"),
		}
	}
	signs, _ = c.flag("commit.gpgsign")
	return name, email, signs, nil
}

// person returns the first of keys that has something of a name or an address.
func (c config) person(keys ...string) string {
	for _, k := range keys {
		v, _ := c.last(k)
		if v = cleanName(v); v != "" {
			return v
		}
	}
	return ""
}

// cleanName leaves out what git itself leaves out of a name.
func cleanName(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' {
			return -1
		}
		return r
	}, s))
}

// Note implements [share.Ledger].
func (l Ledger) Note(ctx context.Context, remote string, m share.Move) (bool, error) {
	_, seen, err := l.Tips(ctx, remote)
	if err != nil {
		return false, err
	}
	none := strings.Repeat("0", 2*l.r.format.Size())
	var in strings.Builder
	if m.From != m.To {
		old := none
		if !m.From.IsZero() {
			old = m.From.String()
		}
		fmt.Fprintf(&in, "update %s %s %s\n", knowledgeRef, m.To, old)
	}
	if !m.Theirs.IsZero() && m.Theirs != seen {
		fmt.Fprintf(&in, "update %s %s\n", knowledgeOf(remote), m.Theirs)
	}
	if in.Len() == 0 {
		return true, nil
	}
	if _, err = l.r.read(ctx, strings.NewReader(in.String()), "update-ref", "--stdin"); err == nil {
		return true, nil
	}
	if now, _, tipErr := l.Tips(ctx, remote); tipErr == nil && now != m.From {
		return false, nil // somebody else did it
	}
	return false, err
}

// speak runs git with a remote at the other end.
func (l Ledger) speak(ctx context.Context, remote string, args ...string) (out string, status int, said string, err error) {
	c, err := l.r.everything(ctx)
	if err != nil {
		return "", 0, "", err
	}
	// Nobody can answer: git has no terminal here. It must not wait for an answer.
	var env []string
	_, own := c.last("core.sshcommand")
	if os.Getenv("GIT_SSH") == "" && os.Getenv("GIT_SSH_COMMAND") == "" && !own {
		env = append(env, "GIT_SSH_COMMAND=ssh -o BatchMode=yes")
	}
	if mirror, _ := c.flag("remote." + remote + ".mirror"); mirror {
		// Such a remote takes all refs or none, unless it is one no longer.
		env = append(env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=remote."+remote+".mirror", "GIT_CONFIG_VALUE_0=false")
	}
	buf := &bounded{max: maxAnswer}
	status, said, err = l.r.run(ctx, call{args: args, stdout: buf, env: env, network: true})
	return buf.String(), status, said, err
}

func (l Ledger) unheard(remote string, args []string, status int, said string) error {
	err := l.r.failed(args, status, said)
	if fault.HintOf(err) != "" {
		return err
	}
	return &fault.Error{Hint: "see what git says of the remote: git ls-remote " + fault.Quote(remote), Err: err}
}

// fetchTries is how often a fetch is tried again that met another of the same clone: both
// write where the remote was last seen.
const fetchTries = 5

// Fetch implements [share.Ledger].
func (l Ledger) Fetch(ctx context.Context, remote string) (repo.ID, error) {
	_, before, err := l.Tips(ctx, remote)
	if err != nil {
		return repo.ID{}, err
	}
	// Nothing but this ref, and all of it, whatever a clone leaves out otherwise.
	args := []string{
		"fetch", "--progress", "--no-tags", "--no-prune", "--no-write-fetch-head", "--no-recurse-submodules", "--no-filter", "--refmap=",
		"--no-auto-maintenance", "--no-write-commit-graph",
		remote, "+" + knowledgeRef + ":" + knowledgeOf(remote),
	}
	_, status, said, err := l.speak(ctx, remote, args...)
	for range fetchTries {
		if err != nil || status == 0 || !overtaken(said) {
			break
		}
		_, status, said, err = l.speak(ctx, remote, args...)
	}
	switch {
	case err != nil:
		return repo.ID{}, err
	case status != 0 && strings.Contains(said, "couldn't find remote ref "+knowledgeRef):
		if !before.IsZero() {
			_, err = l.r.read(ctx, nil, "update-ref", "-d", knowledgeOf(remote))
		}
		return repo.ID{}, err
	case status != 0:
		return repo.ID{}, l.unheard(remote, []string{"fetch"}, status, said)
	}
	theirs, _, err := l.r.ResolveRef(ctx, knowledgeOf(remote))
	return theirs, err
}

// Push implements [share.Ledger].
func (l Ledger) Push(ctx context.Context, remote string, o share.Offer) (bool, error) {
	args := []string{"push", "--porcelain", "--progress", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"}
	if o.Replace {
		args = append(args, "--force-with-lease="+knowledgeRef+":"+o.Over.String())
	}
	args = append(args, remote, o.Tip.String()+":"+knowledgeRef)
	out, status, said, err := l.speak(ctx, remote, args...)
	if err != nil {
		return false, err
	}
	for line := range strings.Lines(out) {
		word := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(word) != 3 || !strings.HasSuffix(word[1], ":"+knowledgeRef) {
			continue
		}
		switch {
		case word[0] != "!":
			return true, nil
		case o.Replace && strings.HasPrefix(word[2], "[rejected] (stale info)"):
			// So says git both when another push came in between and where the remote hides
			// the ref from those who push. A push that can take nothing away tells which.
			return l.Push(ctx, remote, share.Offer{Tip: o.Tip})
		case strings.HasPrefix(word[2], "[rejected]"), overtaken(word[2]):
			return false, nil
		default:
			return false, refused(word[2], said)
		}
	}
	if status == 0 {
		return false, errors.New("git push: it does not say what became of it")
	}
	return false, l.unheard(remote, args, status, said)
}

// overtaken reports whether a ref was not written because somebody else wrote it in between.
func overtaken(summary string) bool {
	for _, s := range []string{"cannot lock ref", "failed to update ref", "incorrect old value", "reference already exists", "failed to lock"} {
		if strings.Contains(summary, s) {
			return true
		}
	}
	return false
}

// progress is what git says of how far it has come: "Resolving deltas: 100% (7/7), done."
var progress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Z][A-Za-z ]+: +\d+(%|, done|$)`) })

// refused tells why a remote did not take something, in its own words.
func refused(summary, said string) error {
	reason := strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(summary, "[remote rejected] "), "("), ")")
	for _, line := range strings.FieldsFunc(said, func(r rune) bool { return r == '\n' || r == '\r' }) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "remote: ")
		if text = strings.TrimSpace(text); ok && text != "" && !strings.HasPrefix(text, "error: ") && !progress().MatchString(text) {
			reason += ": " + firstComplaint(text)
			break
		}
	}
	return &fault.Error{
		Hint: "ask who keeps it to let " + knowledgeRef + " be pushed; what is known here stays, and goes with the next push",
		Err:  fmt.Errorf("it refuses: %s", firstComplaint(reason)),
	}
}

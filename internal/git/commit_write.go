package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/git/command"
	"ken/internal/git/config"
	"ken/internal/repo"
)

// scratchRef is the branch that git fast-import writes. The same run deletes it, so that it
// never exists outside of that run.
const scratchRef = "refs/ken/scratch"

// A NewCommit is a commit to write.
type NewCommit struct {
	Parents []repo.ID
	Tree    repo.ID // the files it starts with; zero: those of the first parent
	Remove  []repo.Path
	Put     []NewFile
	Message string
	Sign    bool
	At      time.Time
}

// A NewFile is a file of a [NewCommit]: its content, or the id of a blob in the repository.
type NewFile struct {
	Path repo.Path
	ID   repo.ID
	Data []byte
}

// WriteCommit writes a commit that no ref points to. One run of git fast-import reads the
// directories that change, and writes them and the new files.
func (r *Repo) WriteCommit(ctx context.Context, c NewCommit) (repo.ID, error) {
	name, email, _, err := r.committer(ctx)
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
	if !c.Tree.IsZero() {
		fmt.Fprintf(&in, "M 040000 %s \"\"\n", c.Tree)
	}
	for _, p := range c.Remove {
		fmt.Fprintf(&in, "D %s\n", importPath(p))
	}
	for _, f := range c.Put {
		if f.Data == nil {
			fmt.Fprintf(&in, "M 100644 %s %s\n", f.ID, importPath(f.Path))
			continue
		}
		fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n", importPath(f.Path), len(f.Data))
		in.Write(f.Data)
		in.WriteByte('\n')
	}
	fmt.Fprintf(&in, "get-mark :1\nreset %s\nfrom %s\ndone\n", scratchRef, r.noObject())
	id, err := r.fastImport(ctx, in.Bytes())
	if err == nil && c.Sign {
		return r.sign(ctx, id, c)
	}
	return id, err
}

// noObject returns the id that git uses for a missing object.
func (r *Repo) noObject() string { return strings.Repeat("0", 2*r.format.Size()) }

// importPath quotes a path for git fast-import.
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

// sign writes a commit again, with a signature.
func (r *Repo) sign(ctx context.Context, unsigned repo.ID, c NewCommit) (repo.ID, error) {
	name, email, _, err := r.committer(ctx)
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
	out, err := r.git().Output(ctx, command.Call{Args: args, Stdin: strings.NewReader(c.Message), Env: who})
	if err != nil {
		return repo.ID{}, &fault.Error{
			Hint: "check that git can sign: git commit-tree -S HEAD^{tree} -m test",
			Err:  fmt.Errorf("sign the commit: %w", err),
		}
	}
	return repo.ParseID(strings.TrimSpace(out))
}

// Identity returns who commits here, as "Name <email>", and whether the configuration signs
// commits.
func (r *Repo) Identity(ctx context.Context) (who string, signs bool, err error) {
	name, email, signs, err := r.committer(ctx)
	if err != nil {
		return "", false, err
	}
	return name + " <" + email + ">", signs, nil
}

// committer returns the name and address that git would commit with.
func (r *Repo) committer(ctx context.Context) (name, email string, signs bool, err error) {
	c, err := r.allConfig(ctx)
	if err != nil {
		return "", "", false, err
	}
	name = cmp.Or(cleanName(os.Getenv("GIT_COMMITTER_NAME")), person(c, "committer.name", "user.name"))
	email = cmp.Or(cleanName(os.Getenv("GIT_COMMITTER_EMAIL")), person(c, "committer.email", "user.email"))
	if name == "" || email == "" {
		return "", "", false, &fault.Error{
			Hint: `git config user.name "Your Name" && git config user.email you@example.org`,
			Err:  errors.New("git has no name and address for you"),
		}
	}
	signs, _ = c.Bool("commit.gpgsign")
	return name, email, signs, nil
}

// person returns the first of keys that is set to a name or an address.
func person(c config.Settings, keys ...string) string {
	for _, k := range keys {
		v, _ := c.Last(k)
		if v = cleanName(v); v != "" {
			return v
		}
	}
	return ""
}

// cleanName removes the characters that git removes from a name.
func cleanName(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == '<' || r == '>' {
			return -1
		}
		return r
	}, s))
}

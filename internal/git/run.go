package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"ken/internal/env"
	"ken/internal/fault"
)

// Every git process starts in this file, usually by one of four methods:
//
//	read     returns the output, or an error
//	split    passes each item of the output to a function (split.go)
//	probe    returns the output, or that there is none, or an error
//	check  returns a bool from the exit status, or an error

const (
	defaultTimeout = 60 * time.Second
	// killDelay is how long ken waits for a killed git to close its pipes.
	killDelay = 2 * time.Second
	// maxAnswer is the largest output that ken reads into memory: far more than a million paths need.
	maxAnswer = 1 << 30
	maxStderr = 4 << 10
)

// A call is one run of git.
type call struct {
	args   []string
	stdin  io.Reader // nothing when nil
	stdout io.Writer
	env    []string // additional environment variables
	// steady applies the timeout to the time without output instead of the whole run.
	steady bool
	// network lets git contact a remote. It may take as long as it shows progress.
	network bool
	// spec omits --literal-pathspecs, which some commands refuse.
	spec bool
}

// read runs git and returns its output. Any failure is an error.
func (r *Repo) read(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	out := &bounded{max: maxAnswer}
	status, stderr, err := r.run(ctx, call{args: args, stdin: stdin, stdout: out})
	if err != nil {
		return "", err
	}
	if status != 0 {
		return "", r.failed(args, status, stderr)
	}
	return out.String(), nil
}

// probe runs a git command that exits with status 1 and no error message if the requested thing does not exist. Any
// other failure is an error.
func (r *Repo) probe(ctx context.Context, args ...string) (out string, found bool, err error) {
	buf := &bounded{max: maxAnswer}
	status, stderr, err := r.run(ctx, call{args: args, stdout: buf})
	switch {
	case err != nil:
		return "", false, err
	case status == 0:
		return buf.String(), true, nil
	case status == 1 && !strings.Contains(stderr, "fatal: "):
		return "", false, nil
	}
	return "", false, r.failed(args, status, stderr)
}

// check runs a git command whose exit status is the answer: 0 is true, 1 is false, anything else is an error.
func (r *Repo) check(ctx context.Context, args ...string) (bool, error) {
	status, stderr, err := r.run(ctx, call{args: args, stdout: io.Discard})
	if err != nil {
		return false, err
	}
	if status > 1 {
		return false, r.failed(args, status, stderr)
	}
	return status == 0, nil
}

// run runs git and returns its exit status and the beginning of stderr. An error means that there is no exit status: git
// did not start, was stopped, or took too long.
func (r *Repo) run(ctx context.Context, c call) (status int, stderr string, err error) {
	limit, err := timeout()
	if err != nil {
		return 0, "", err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	complaint := &stderrBuffer{bounded: bounded{max: maxStderr, cut: true}}
	var stderrTo io.Writer = complaint
	if c.steady || c.network {
		cancel()
		limited, cancel = context.WithCancel(ctx)
		timer := time.AfterFunc(limit, cancel)
		defer timer.Stop()
		c.stdout = &activityWriter{c.stdout, func() { timer.Reset(limit) }}
		if c.network {
			complaint.progress = true
			stderrTo = &activityWriter{complaint, func() { timer.Reset(limit) }}
		}
	}
	defer cancel()

	fixed := r.fixed()
	if c.spec {
		fixed = slices.DeleteFunc(fixed, func(arg string) bool { return arg == literalPathspecs })
	}
	if c.network {
		// Git and the user's settings decide which transports are allowed. Git refuses ext::, which starts a
		// program, unless the user has allowed it.
		c.env = append(c.env, network(os.Environ())...)
	} else {
		fixed = append(fixed, "-c", "protocol.allow=never")
	}
	cmd := exec.CommandContext(limited, "git", append(fixed, c.args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.stdin, c.stdout, stderrTo
	cmd.Env = append(r.environ(os.Environ()), c.env...)
	cmd.WaitDelay = killDelay
	ownGroup(cmd)

	err = cmd.Run()
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0, complaint.String(), nil
	case ctx.Err() != nil:
		return 0, "", stopped(ctx, "git "+c.args[0])
	case limited.Err() != nil:
		return 0, "", &fault.Error{
			Hint: "give it longer with: export KEN_GIT_TIMEOUT=10m",
			Err:  fmt.Errorf("git %s: no answer within %s", c.args[0], limit),
		}
	case errors.Is(err, exec.ErrNotFound):
		return 0, "", &fault.Error{
			Hint: "install git and put it on the PATH; to check: git --version",
			Err:  fmt.Errorf("git %s: git is not installed: %w", c.args[0], err),
		}
	case exited && exit.ExitCode() >= 0:
		return exit.ExitCode(), complaint.String(), nil
	}
	return 0, "", fmt.Errorf("git %s: %w", c.args[0], err)
}

// stderrBuffer keeps the beginning of stderr. It leaves out progress lines, which would fill the buffer.
type stderrBuffer struct {
	bounded
	progress bool
	line     []byte
}

func (c *stderrBuffer) Write(p []byte) (int, error) {
	if !c.progress {
		return c.bounded.Write(p)
	}
	for _, b := range p {
		switch {
		case b == '\r':
			c.line = c.line[:0]
		case b == '\n':
			if line := string(c.line); !strings.HasSuffix(line, ", done.") {
				c.bounded.Write([]byte(line + "\n")) //nolint:errcheck // the buffer drops the excess
			}
			c.line = c.line[:0]
		case len(c.line) < maxStderr:
			c.line = append(c.line, b)
		}
	}
	return len(p), nil
}

// An activityWriter calls onWrite before every write.
type activityWriter struct {
	io.Writer
	onWrite func()
}

func (w *activityWriter) Write(p []byte) (int, error) {
	w.onWrite()
	return w.Writer.Write(p)
}

// stopped returns the error for an act that the caller's context ended.
func stopped(ctx context.Context, act string) error {
	kind := fault.Failed
	if errors.Is(ctx.Err(), context.Canceled) {
		kind = fault.Interrupted
	}
	return &fault.Error{Kind: kind, Err: fmt.Errorf("%s: %w", act, ctx.Err())}
}

// failed returns the error for an exit status, with git's message if there is one.
func (r *Repo) failed(args []string, status int, stderr string) error {
	if strings.Contains(stderr, "dubious ownership") || strings.Contains(stderr, "unsafe repository") {
		dir := cmp.Or(quotedIn(stderr), r.root) // it may be the directory of a remote
		return &fault.Error{
			Hint: "if you trust it: git config --global --add safe.directory " + fault.Quote(dir),
			Err:  fmt.Errorf("%s belongs to another user", dir),
		}
	}
	said := &gitError{command: args[0], status: status, text: firstComplaint(stderr)}
	if strings.Contains(stderr, "safe.bareRepository") {
		return &fault.Error{Hint: "run ken in a work tree, or let git find bare repositories: git config --global safe.bareRepository all", Err: said}
	}
	return said
}

// quotedIn returns the first text between single quotes.
func quotedIn(text string) string {
	_, rest, _ := strings.Cut(text, "'")
	quoted, _, closed := strings.Cut(rest, "'")
	if !closed {
		return ""
	}
	return quoted
}

// A gitError is a failure that git reported.
type gitError struct {
	command string
	status  int
	text    string
}

func (e *gitError) Error() string {
	if e.text == "" {
		return fmt.Sprintf("git %s: exit status %d", e.command, e.status)
	}
	return fmt.Sprintf("git %s: %s", e.command, e.text)
}

// firstComplaint returns the line of stderr with the error, without control characters, which a file name can contain.
func firstComplaint(stderr string) string {
	first := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if strings.HasSuffix(first, ":") {
			first += " " + line // the next line has the details
			break
		}
		if strings.HasPrefix(line, "fatal: ") || strings.HasPrefix(line, "error: ") {
			if first = line; !strings.HasSuffix(line, ":") {
				break
			}
		} else if first == "" {
			first = line
		}
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(first, "?"))
}

// timeout returns how long one git process may take: KEN_GIT_TIMEOUT, else a minute.
func timeout() (time.Duration, error) { return env.Timeout("KEN_GIT_TIMEOUT", defaultTimeout) }

// errTooLong stops git if its output is too long.
var errTooLong = errors.New("the output is too long")

// A bounded is a buffer of at most max bytes. If more is written, it drops the rest if cut is set, and returns an error
// otherwise.
type bounded struct {
	bytes.Buffer
	max int
	cut bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if free := b.max - b.Len(); len(p) > free {
		if !b.cut {
			return 0, errTooLong
		}
		b.Buffer.Write(p[:max(free, 0)])
		return len(p), nil
	}
	return b.Buffer.Write(p)
}

// ReadFrom hides the method of bytes.Buffer, which has no limit.
func (b *bounded) ReadFrom(src io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, src)
}

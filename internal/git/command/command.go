// Package command runs git for one repository. Every git process of ken starts in [Runner.Run].
//
// git gets a fixed environment and fixed settings, so no variable of a hook and no configuration of the repository changes
// an answer or starts a program. A failure of git is always an error and never an empty answer.
package command

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

const (
	defaultTimeout = 60 * time.Second
	// killDelay is how long ken waits for a killed git to close its pipes.
	killDelay = 2 * time.Second
	// maxOutput is the largest output that ken reads into memory: far more than a million paths need.
	maxOutput = 1 << 30
	maxStderr = 4 << 10
)

// A Runner runs git in one repository.
type Runner struct {
	Root   string // the work tree, or the git directory of a bare repository
	GitDir string
	// Detached says that git would not find the git directory from the root, so every call names both.
	Detached bool
	// Foreign says that the repository belongs to another user and git accepts it.
	Foreign bool
}

// A Call is one run of git.
type Call struct {
	Args   []string
	Stdin  io.Reader // nothing when nil
	Stdout io.Writer
	Env    []string // additional environment variables
	// IdleTimeoutOnly applies the timeout to the time without output instead of the whole run.
	IdleTimeoutOnly bool
	// Network lets git contact a remote. It may take as long as it shows progress.
	Network bool
	// Pathspecs omits --literal-pathspecs, which some commands refuse.
	Pathspecs bool
}

// Read runs git and returns its output. Any failure is an error.
func (r Runner) Read(ctx context.Context, stdin io.Reader, args ...string) (string, error) {
	return r.Output(ctx, Call{Args: args, Stdin: stdin})
}

// Output runs git and returns its output. Any failure is an error.
func (r Runner) Output(ctx context.Context, c Call) (string, error) {
	out, status, stderr, err := r.Collect(ctx, c)
	if err == nil && status != 0 {
		err = r.Failed(c.Args, status, stderr)
	}
	if err != nil {
		return "", err
	}
	return out, nil
}

// Stream runs git, which writes its output to Stdout of the call. Any failure is an error.
func (r Runner) Stream(ctx context.Context, c Call) error {
	status, stderr, err := r.Run(ctx, c)
	if err == nil && status != 0 {
		err = r.Failed(c.Args, status, stderr)
	}
	return err
}

// Probe runs a git command that exits with status 1 and no error message if the requested thing does not exist. Any
// other failure is an error.
func (r Runner) Probe(ctx context.Context, args ...string) (out string, found bool, err error) {
	out, status, stderr, err := r.Collect(ctx, Call{Args: args})
	switch {
	case err != nil:
		return "", false, err
	case status == 0:
		return out, true, nil
	case status == 1 && !strings.Contains(stderr, "fatal: "):
		return "", false, nil
	}
	return "", false, r.Failed(args, status, stderr)
}

// Check runs a git command whose exit status is the answer: 0 is true, 1 is false, anything else is an error.
func (r Runner) Check(ctx context.Context, args ...string) (bool, error) {
	status, stderr, err := r.Run(ctx, Call{Args: args, Stdout: io.Discard})
	if err != nil {
		return false, err
	}
	if status > 1 {
		return false, r.Failed(args, status, stderr)
	}
	return status == 0, nil
}

// Collect is Run that also returns the output. It sets Stdout of the call.
func (r Runner) Collect(ctx context.Context, c Call) (out string, status int, stderr string, err error) {
	buf := &buffer{max: maxOutput}
	c.Stdout = buf
	status, stderr, err = r.Run(ctx, c)
	return buf.String(), status, stderr, err
}

// Run runs git and returns its exit status and the beginning of stderr. An error means that there is no exit status: git
// did not start, was stopped, or took too long.
func (r Runner) Run(ctx context.Context, c Call) (status int, stderr string, err error) {
	limit, err := timeout()
	if err != nil {
		return 0, "", err
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	complaint := &stderrBuffer{buffer: buffer{max: maxStderr, cut: true}}
	var stderrTo io.Writer = complaint
	if c.IdleTimeoutOnly || c.Network {
		cancel()
		limited, cancel = context.WithCancel(ctx)
		timer := time.AfterFunc(limit, cancel)
		defer timer.Stop()
		c.Stdout = &activityWriter{c.Stdout, func() { timer.Reset(limit) }}
		if c.Network {
			complaint.progress = true
			stderrTo = &activityWriter{complaint, func() { timer.Reset(limit) }}
		}
	}
	defer cancel()

	fixed := r.fixed()
	if c.Pathspecs {
		fixed = slices.DeleteFunc(fixed, func(arg string) bool { return arg == literalPathspecs })
	}
	if c.Network {
		// Git and the user's settings decide which transports are allowed. Git refuses ext::, which starts a
		// program, unless the user has allowed it.
		c.Env = append(c.Env, network(os.Environ())...)
	} else {
		fixed = append(fixed, "-c", "protocol.allow=never")
	}
	cmd := exec.CommandContext(limited, "git", append(fixed, c.Args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.Stdin, c.Stdout, stderrTo
	cmd.Env = append(r.environ(os.Environ()), c.Env...)
	cmd.WaitDelay = killDelay
	ownGroup(cmd)

	err = cmd.Run()
	exit, exited := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
		return 0, complaint.String(), nil
	case ctx.Err() != nil:
		return 0, "", Stopped(ctx, "git "+c.Args[0])
	case limited.Err() != nil:
		return 0, "", &fault.Error{
			Hint: "give it longer with: export KEN_GIT_TIMEOUT=10m",
			Err:  fmt.Errorf("git %s: no answer within %s", c.Args[0], limit),
		}
	case errors.Is(err, exec.ErrNotFound):
		return 0, "", &fault.Error{
			Hint: "install git and put it on the PATH; to check: git --version",
			Err:  fmt.Errorf("git %s: git is not installed: %w", c.Args[0], err),
		}
	case exited && exit.ExitCode() >= 0:
		return exit.ExitCode(), complaint.String(), nil
	}
	return 0, "", fmt.Errorf("git %s: %w", c.Args[0], err)
}

// stderrBuffer keeps the beginning of stderr. It leaves out progress lines, which would fill the buffer.
type stderrBuffer struct {
	buffer
	progress bool
	line     []byte
}

func (s *stderrBuffer) Write(p []byte) (int, error) {
	if !s.progress {
		return s.buffer.Write(p)
	}
	for _, b := range p {
		switch {
		case b == '\r':
			s.line = s.line[:0]
		case b == '\n':
			if line := string(s.line); !strings.HasSuffix(line, ", done.") {
				s.buffer.Write([]byte(line + "\n")) //nolint:errcheck // the buffer drops the excess
			}
			s.line = s.line[:0]
		case len(s.line) < maxStderr:
			s.line = append(s.line, b)
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

// Stopped returns the error for an act that the caller's context ended.
func Stopped(ctx context.Context, act string) error {
	kind := fault.Failed
	if errors.Is(ctx.Err(), context.Canceled) {
		kind = fault.Interrupted
	}
	return &fault.Error{Kind: kind, Err: fmt.Errorf("%s: %w", act, ctx.Err())}
}

// Failed returns the error for an exit status, with git's message if there is one.
func (r Runner) Failed(args []string, status int, stderr string) error {
	if strings.Contains(stderr, "dubious ownership") || strings.Contains(stderr, "unsafe repository") {
		dir := cmp.Or(quotedIn(stderr), r.Root) // it may be the directory of a remote
		return &fault.Error{
			Hint: "if you trust it: git config --global --add safe.directory " + fault.Quote(dir),
			Err:  fmt.Errorf("%s belongs to another user", dir),
		}
	}
	said := &Error{command: args[0], status: status, Text: ErrorLine(stderr)}
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

// An Error is a failure that git reported.
type Error struct {
	command string
	status  int
	Text    string // the line of stderr with the error
}

func (e *Error) Error() string {
	if e.Text == "" {
		return fmt.Sprintf("git %s: exit status %d", e.command, e.status)
	}
	return fmt.Sprintf("git %s: %s", e.command, e.Text)
}

// ErrorLine returns the line of stderr with the error, without control characters, which a file name can contain.
func ErrorLine(stderr string) string {
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

// A buffer is a buffer of at most max bytes. If more is written, it drops the rest if cut is set, and returns an error
// otherwise.
type buffer struct {
	bytes.Buffer
	max int
	cut bool
}

func (b *buffer) Write(p []byte) (int, error) {
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
func (b *buffer) ReadFrom(src io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{b}, src)
}

package state

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"ken/internal/repo"
)

// A holder is who a lock file says holds the lock. It is what people are told; the
// lock itself is the kernel's.
type holder struct {
	PID          int       `json:"pid"`
	Host         string    `json:"host"`
	ProcessStart time.Time `json:"process_start,omitzero"`
	Command      string    `json:"command"`
	Since        time.Time `json:"since"`

	bare    bool      // another program's: the file holds the pid and no more
	written time.Time // when the file was
}

// maxHolder is more than a holder's line needs.
const maxHolder = 64 << 10

// readHolder reads a lock file from its beginning; a zero holder is nobody known.
func readHolder(f *os.File) holder {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, maxHolder))
	if err != nil {
		return holder{}
	}
	b = bytes.TrimSpace(b)
	var h holder
	if json.Unmarshal(b, &h) == nil && h.PID > 0 {
		return h
	}
	if len(b) == 0 || len(b) > 10 || len(bytes.Trim(b, "0123456789")) > 0 {
		return holder{}
	}
	pid, err := strconv.ParseInt(string(b), 10, 32)
	if err != nil || pid == 0 {
		return holder{}
	}
	info, err := f.Stat()
	if err != nil {
		return holder{}
	}
	return holder{PID: int(pid), bare: true, written: info.ModTime()}
}

// alive reports whether a bare number is that of a process that can have written
// it: one that runs here, is not this one, and had started by then.
func (h holder) alive() bool {
	if h.PID == os.Getpid() || !running(h.PID) {
		return false
	}
	const slack = 2 * time.Second // clocks of processes are coarse
	start, ok := processStart(h.PID)
	return !ok || !start.After(h.written.Add(slack))
}

// sign writes this process into the lock file. In place: the file is the lock.
func (h *Locked) sign(command string) error {
	me := holder{PID: os.Getpid(), Command: command, Since: h.dir.now().UTC()}
	if host, err := os.Hostname(); err == nil {
		me.Host = host
	}
	if start, ok := processStart(me.PID); ok {
		me.ProcessStart = start.UTC()
	}
	b, err := json.Marshal(me)
	if err != nil {
		return err
	}
	if err := h.lock.Truncate(0); err != nil {
		return err
	}
	_, err = h.lock.WriteAt(append(b, '\n'), 0)
	return err
}

// String says who it is, for the message to whoever waits.
func (h holder) String() string {
	switch {
	case h.PID == 0:
		return "a program that left no name"
	case h.bare:
		return fmt.Sprintf("process %d of another program, since %s", h.PID, h.written.UTC().Format(time.RFC3339))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "process %d", h.PID)
	if h.Command != "" {
		fmt.Fprintf(&b, " (%s)", repo.Path(h.Command))
	}
	if h.Host != "" {
		fmt.Fprintf(&b, " on %s", repo.Path(h.Host))
	}
	if !h.Since.IsZero() {
		fmt.Fprintf(&b, ", since %s", h.Since.Format(time.RFC3339))
	}
	return b.String()
}

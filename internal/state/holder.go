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

// A holder is the process in a lock file, for messages. The lock itself is in the
// kernel.
type holder struct {
	PID          int       `json:"pid"`
	Host         string    `json:"host"`
	ProcessStart time.Time `json:"process_start,omitzero"`
	Command      string    `json:"command"`
	Since        time.Time `json:"since"`

	bare    bool      // written by another program: the file has only the pid
	written time.Time // the time of the file
}

// maxHolder is the size up to which a lock file is read.
const maxHolder = 64 << 10

// readHolder reads a lock file; the zero holder is unknown.
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

// alive reports whether the process can have written its pid: it runs here, is not this
// process, and started before the file was written.
func (h holder) alive() bool {
	const slack = 2 * time.Second // process start times are coarse
	start, running := process(h.PID)
	return running && h.PID != os.Getpid() && !start.After(h.written.Add(slack))
}

// writeHolder writes this process to the lock file, in place, since the file is locked.
func (l *Locked) writeHolder(command string) error {
	me := holder{PID: os.Getpid(), Command: command, Since: l.dir.now().UTC()}
	me.Host, _ = os.Hostname()
	me.ProcessStart, _ = process(me.PID)
	b, err := json.Marshal(me)
	if err != nil {
		return err
	}
	if err := l.lock.Truncate(0); err != nil {
		return err
	}
	_, err = l.lock.WriteAt(append(b, '\n'), 0)
	return err
}

// String describes the process for messages.
func (h holder) String() string {
	switch {
	case h.PID == 0:
		return "an unknown program"
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

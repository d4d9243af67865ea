package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ken/internal/contract"
	"ken/internal/fault"
	"ken/internal/state"
)

const (
	// recordLimit is the length of the longest line: every system appends that much in
	// one write.
	recordLimit = 4032
	// logLimit is the size at which a log moves to the archive and a new one starts.
	logLimit = 4 << 20
)

// Log appends one JSON object to a log and returns the written line: with its time, and
// shortened if it was too long.
func (m *Manager) Log(ctx context.Context, name string, record []byte) (json.RawMessage, error) {
	if f, ok := m.c.File(name); !ok || !f.Log {
		return nil, m.noLog(name)
	}
	line, err := logLine(record, stamp(m.opts.Now()))
	if err != nil {
		return nil, badRequest(`printf '{"category":"timeout"}' | ken state log `+name, "%w", err)
	}
	err = m.locked(ctx, "log", func(h *state.Locked) error { return h.Append(name, line, logLimit) })
	return line, err
}

func (m *Manager) noLog(name string) error {
	var logs []string
	for _, f := range m.c.Files {
		if f.Log {
			logs = append(logs, f.Name)
		}
	}
	hint := "the logs are " + strings.Join(logs, ", ")
	if near, ok := contract.SuggestWord(name, logs); ok {
		hint = "ken state log " + near
	}
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf("the contract has no log %q", name)}
}

// logLine returns a record as one line. The fields keep their order.
func logLine(record []byte, ts string) ([]byte, error) {
	fields, err := parseFields(bytes.ToValidUTF8(record, []byte("\uFFFD")))
	if err != nil {
		return nil, err
	}
	fields = slices.DeleteFunc(fields, func(f field) bool { return f.key == "ts" && string(f.value) == "null" })
	if !slices.ContainsFunc(fields, func(f field) bool { return f.key == "ts" }) {
		fields = append([]field{{"ts", quoted(ts)}}, fields...)
	}
	line := fields.line()
	if len(line) <= recordLimit {
		return line, nil
	}
	return fields.cut(len(line)), nil
}

type field struct {
	key   string
	value json.RawMessage
}

type fields []field

// parseFields reads one JSON object, its members in order.
func parseFields(b []byte) (fields, error) {
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, errors.New("expected one JSON object")
	}
	var out fields
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("expected one JSON object: %w", err)
		}
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, fmt.Errorf("expected one JSON object: %w", err)
		}
		var flat bytes.Buffer
		if err := json.Compact(&flat, v); err != nil {
			return nil, err
		}
		out = append(out, field{key.(string), flat.Bytes()})
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("expected one JSON object: %w", err)
	}
	if dec.More() {
		return nil, errors.New("expected one JSON object, found more after it")
	}
	return out, nil
}

func (fs fields) line() []byte {
	b := []byte{'{'}
	for i, f := range fs {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, quoted(f.key)...)
		b = append(b, ':')
		b = append(b, f.value...)
	}
	return append(b, "}\n"...)
}

// shortValue is the length below which values are not shortened further.
const shortValue = 64

// cut shortens the longest values until the line fits, and marks it. When all values
// are short it drops fields from the end. A value that is not a string becomes the
// beginning of its JSON text.
func (fs fields) cut(size int) []byte {
	marks := fields{{"truncated", []byte("true")}, {"original_bytes", fmt.Appendf(nil, "%d", size-1)}}
	fs = slices.Clone(fs.couldFit(recordLimit - len(marks.line())))
	for {
		line := append(slices.Clone(fs), marks...).line()
		over := len(line) - recordLimit
		if over <= 0 {
			return line
		}
		longest := 0
		for i := range fs {
			if len(fs[i].value) > len(fs[longest].value) {
				longest = i
			}
		}
		if len(fs[longest].value) > shortValue {
			fs[longest].value = shorter(fs[longest].value, over)
		} else {
			fs = fs[:len(fs)-1]
		}
	}
}

// couldFit returns as many of the first fields as fit when all are short, so that a
// record with millions of fields is cut quickly.
func (fs fields) couldFit(room int) fields {
	for i, f := range fs {
		if room -= len(quoted(f.key)) + min(len(f.value), shortValue) + len(":,"); room < 0 {
			return fs[:i]
		}
	}
	return fs
}

// shorter returns a value that is at least over bytes shorter, or an ellipsis.
func shorter(value json.RawMessage, over int) json.RawMessage {
	var text string
	if json.Unmarshal(value, &text) != nil {
		text = string(value)
	}
	for keep := len(text) - over - len("…"); keep > 0; keep -= max(over/8, 1) {
		for keep > 0 && !utf8.RuneStart(text[keep]) {
			keep--
		}
		if q := quoted(text[:keep] + "…"); len(q) <= len(value)-over {
			return q
		}
	}
	return quoted("…")
}

func quoted(s string) json.RawMessage { return appendJSON(nil, s) }

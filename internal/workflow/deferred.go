package workflow

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// A Deferral is one entry of the list of deferred work.
type Deferral struct {
	ID         string   `json:"id"`
	Title      string   `json:"title"`
	Status     string   `json:"status"`
	Body       string   `json:"body,omitempty"`
	CapturedAt string   `json:"captured_at,omitempty"`
	CapturedBy string   `json:"captured_by,omitempty"`
	Context    string   `json:"context,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	ClosedAt   string   `json:"closed_at,omitempty"`
	ClosedBy   string   `json:"closed_by,omitempty"`
}

// The statuses of a deferral.
const (
	Open   = "open"
	Closed = "closed"
)

// A deferredFile has the lines of the file and the positions of its entries. Text
// between entries stays as it is.
type deferredFile struct {
	lines []string
	items []deferralAt
}

type deferralAt struct {
	Deferral
	from, to int // its lines, including the heading
}

const (
	deferredHeader = "# Deferred\n"
	headingMark    = "## "
	idMark         = "DEF-"
	separator      = "---"
	dashes         = " \t:-–—" // separate an id from its title
)

func parseDeferred(b []byte) *deferredFile {
	f := &deferredFile{}
	if text := strings.TrimSuffix(string(b), "\n"); text != "" {
		f.lines = strings.Split(text, "\n")
	}
	for i, line := range f.lines {
		line = strings.TrimRight(line, "\r ")
		if id, title, ok := parseHeading(line); ok {
			f.endItem(i)
			f.items = append(f.items, deferralAt{Deferral: Deferral{ID: id, Title: title, Status: Open}, from: i, to: -1})
		} else if line == separator {
			f.endItem(i)
		}
	}
	f.endItem(len(f.lines))
	for i := range f.items {
		f.items[i].read(f.lines[f.items[i].from+1 : f.items[i].to])
	}
	return f
}

// endItem ends the current entry, if any, before line i.
func (f *deferredFile) endItem(i int) {
	if n := len(f.items); n > 0 && f.items[n-1].to < 0 {
		f.items[n-1].to = i
	}
}

// parseHeading reads "## DEF-007 — title", with any dash or none.
func parseHeading(line string) (id, title string, ok bool) {
	rest, ok := strings.CutPrefix(line, headingMark+idMark)
	if !ok {
		return "", "", false
	}
	title = strings.TrimLeft(rest, "0123456789")
	digits := len(rest) - len(title)
	if digits == 0 || title != "" && strings.IndexAny(title, dashes) != 0 {
		return "", "", false
	}
	return idMark + rest[:digits], strings.TrimSpace(strings.TrimLeft(title, dashes)), true
}

// read reads the fields of an entry from the lines below its heading.
func (d *deferralAt) read(lines []string) {
	var body []string
	tags := ""
	fields := map[string]*string{
		"status": &d.Status, "context": &d.Context, "tags": &tags,
		"captured_at": &d.CapturedAt, "captured_by": &d.CapturedBy,
		"closed_at": &d.ClosedAt, "closed_by": &d.ClosedBy,
	}
	for _, line := range lines {
		line = strings.TrimRight(line, "\r ")
		if text, ok := strings.CutPrefix(line, ">"); ok {
			body = append(body, strings.TrimPrefix(text, " "))
			continue
		}
		field, ok := strings.CutPrefix(line, "- ")
		key, value, pair := strings.Cut(field, ":")
		if into := fields[key]; ok && pair && into != nil {
			*into = strings.TrimSpace(value)
		}
	}
	d.Body = strings.Join(body, "\n")
	if tags != "" {
		for tag := range strings.SplitSeq(tags, ",") {
			d.Tags = append(d.Tags, strings.TrimSpace(tag))
		}
	}
}

// list returns the entries.
func (f *deferredFile) list() []Deferral {
	out := []Deferral{}
	for _, it := range f.items {
		out = append(out, it.Deferral)
	}
	return out
}

// last returns the highest number of the file and of the given id.
func (f *deferredFile) last(given string) int {
	highest := number(given)
	for _, it := range f.items {
		highest = max(highest, number(it.ID))
	}
	return highest
}

// maxNumber keeps a number in a hand-written id from overflowing.
const maxNumber = 999_999_999

// number returns the number of an id in upper or lower case; 0 if it has none.
func number(id string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.ToUpper(id), idMark))
	if err != nil || n < 0 || n > maxNumber {
		return 0
	}
	return n
}

func deferralID(n int) string { return fmt.Sprintf("%s%03d", idMark, n) }

// add appends an entry. The title is put on one line and the body is quoted, so that
// no text can look like another entry.
func (f *deferredFile) add(d Deferral) {
	if len(f.lines) == 0 {
		f.lines = strings.Split(deferredHeader, "\n")
	} else {
		for len(f.lines) > 0 && strings.TrimSpace(f.lines[len(f.lines)-1]) == "" {
			f.lines = f.lines[:len(f.lines)-1]
		}
		f.lines = append(f.lines, "")
		if len(f.items) > 0 {
			f.lines = append(f.lines, separator, "")
		}
	}
	f.lines = append(f.lines, headingMark+d.ID+" — "+d.Title, "- captured_at: "+d.CapturedAt)
	if d.CapturedBy != "" {
		f.lines = append(f.lines, "- captured_by: "+oneLine(d.CapturedBy))
	}
	f.lines = append(f.lines, "- status: "+d.Status)
	if d.Body != "" {
		f.lines = append(f.lines, "")
		for line := range strings.SplitSeq(d.Body, "\n") {
			f.lines = append(f.lines, strings.TrimRight("> "+withoutControls(line), " "))
		}
	}
}

// setStatus rewrites the status fields of an entry.
func (f *deferredFile) setStatus(at int, d Deferral) {
	it := f.items[at]
	fields := []string{"- status: " + d.Status}
	if d.ClosedAt != "" {
		fields = append(fields, "- closed_at: "+d.ClosedAt)
	}
	if d.ClosedBy != "" {
		fields = append(fields, "- closed_by: "+oneLine(d.ClosedBy))
	}
	// They replace the first of them, or follow the heading.
	out, placed := []string{f.lines[it.from]}, false
	for _, line := range f.lines[it.from+1 : it.to] {
		if !statusField(line) {
			out = append(out, line)
		} else if !placed {
			out, placed = append(out, fields...), true
		}
	}
	if !placed {
		out = append(append(out[:1:1], fields...), out[1:]...)
	}
	f.lines = append(append(append([]string{}, f.lines[:it.from]...), out...), f.lines[it.to:]...)
}

func statusField(line string) bool {
	for _, key := range []string{"status", "closed_at", "closed_by"} {
		if strings.HasPrefix(line, "- "+key+":") {
			return true
		}
	}
	return false
}

func (f *deferredFile) bytes() []byte { return []byte(strings.Join(f.lines, "\n") + "\n") }

// oneLine puts a text on one line.
func oneLine(s string) string { return strings.Join(strings.Fields(withoutControls(s)), " ") }

// withoutControls replaces control characters and line separators by spaces.
func withoutControls(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

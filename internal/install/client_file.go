package install

import (
	"bytes"
	"fmt"
	"path"

	"ken/internal/fault"
)

// Install puts ken into a text; nil is a file that is not there. Doing it twice is
// doing it once. What somebody else calls ken in it stays as it is.
func (f ClientFile) Install(text []byte) (FileChange, error) {
	if text == nil {
		made, err := f.newText()
		return FileChange{Op: Create, Text: made, Action: "created", Note: f.Note}, err
	}
	if f.isBlank(text) {
		made, err := f.newTextFrom(text)
		return FileChange{Op: Rewrite, Text: made, Action: "added", Note: f.Note}, err
	}
	out, note, err := f.addParts(text)
	switch {
	case err != nil:
		return FileChange{}, err
	case bytes.Equal(out, text):
		return FileChange{Action: "kept", Note: note}, nil
	}
	if note == "" {
		note = f.Note
	}
	return FileChange{Op: Rewrite, Text: out, Action: "added", Note: note}, nil
}

// Uninstall takes ken out of a text, and leaves what was there before. A file that ken
// made goes once nothing else is in it.
func (f ClientFile) Uninstall(text []byte) (FileChange, error) {
	if text == nil || f.isBlank(text) {
		return FileChange{Action: "absent"}, nil
	}
	made, err := f.newText()
	if err != nil {
		return FileChange{}, err
	}
	if bytes.Equal(text, made) {
		return FileChange{Op: Remove, Action: "removed"}, nil
	}
	if was := text[:len(text)-len(bytes.TrimLeft(text, space))]; f.Format == JSON {
		made, err := f.newTextFrom(was)
		if err != nil {
			return FileChange{}, err
		}
		if bytes.Equal(text, made) {
			return FileChange{Op: Rewrite, Text: was, Action: "taken out"}, nil
		}
	}
	out, bare, note, err := f.removeParts(text)
	switch {
	case err != nil:
		return FileChange{}, err
	case bare:
		return FileChange{Op: Remove, Action: "removed"}, nil
	case bytes.Equal(out, text):
		return FileChange{Action: "absent", Note: note}, nil
	}
	return FileChange{Op: Rewrite, Text: out, Action: "taken out", Note: note}, nil
}

// Has counts the parts of ken that are in a text, however they came there; nil is a
// file that is not there.
func (f ClientFile) CountParts(text []byte) (int, error) {
	if text == nil {
		return 0, nil
	}
	if f.Format == TOML {
		return hasTOML(text)
	}
	if f.isBlank(text) {
		return 0, nil
	}
	doc, err := parse(text)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, p := range f.Parts {
		found, err := doc.find(p)
		if err != nil {
			return n, err
		}
		if found != nil {
			n++
		}
	}
	return n, nil
}

// Names reports whether a text that cannot be read was to have ken in it, as far as can be
// told: it is in a file that only ken makes, or has the name as a server or a hook has it.
func (f ClientFile) MentionsKen(text []byte) bool {
	if path.Base(f.Path) == serverName+".json" {
		return true
	}
	for _, word := range []string{`"` + serverName + `"`, "." + serverName + "]", serverName + " hook "} {
		if bytes.Contains(text, []byte(word)) {
			return true
		}
	}
	return false
}

// made is the file that is made where there is none.
func (f ClientFile) newText() ([]byte, error) {
	if f.Format == TOML {
		return tomlBlock(true), nil
	}
	text := []byte("{\n" + headLine(f.Head) + "}\n")
	for _, p := range f.Parts {
		doc, err := parse(text)
		if err != nil {
			return nil, err
		}
		doc.made = true
		if text, err = doc.insert(p); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// space is what a JSON text may have around it.
const space = " \t\r\n"

// blank reports whether there is nothing in a JSON file, as some clients make it.
func (f ClientFile) isBlank(text []byte) bool {
	return f.Format == JSON && len(bytes.Trim(text, space)) == 0
}

// madeFrom is what is made of a blank file: behind what is in it, and with a mark by
// which it is told from a file that was not there, and from one that held {}.
func (f ClientFile) newTextFrom(blank []byte) ([]byte, error) {
	made, err := f.newText()
	return append(bytes.Clone(blank), markEmpty(markEmpty(string(made)))...), err
}

func headLine(head string) string {
	if head == "" {
		return ""
	}
	return "  " + compact(head) + "\n"
}

// put puts the parts in that are not there yet.
func (f ClientFile) addParts(text []byte) (out []byte, note string, err error) {
	if f.Format == TOML {
		return addTOML(text)
	}
	out = text
	for _, p := range f.Parts {
		doc, err := parse(out)
		if err != nil {
			return nil, "", err
		}
		found, err := doc.find(p)
		if err != nil {
			return nil, "", err
		}
		if found != nil {
			if p.Name != "" && !found.equals(p.Value) {
				note = "it already has another server named ken, which stays as it is"
			}
			continue
		}
		if out, err = doc.insert(p); err != nil {
			return nil, "", err
		}
	}
	return out, note, nil
}

// take takes the parts out, the last first. bare says that nothing is left of a file
// that ken made.
func (f ClientFile) removeParts(text []byte) (out []byte, bare bool, note string, err error) {
	if f.Format == TOML {
		return removeTOML(text)
	}
	out = text
	for i := len(f.Parts) - 1; i >= 0; i-- {
		p := f.Parts[i]
		for {
			doc, err := parse(out)
			if err != nil {
				return nil, false, "", err
			}
			found, err := doc.find(p)
			if err != nil {
				return nil, false, "", err
			}
			if found == nil {
				break
			}
			if p.Name != "" && !found.runsKen() {
				note = "its server named ken starts another program, and stays as it is"
				break
			}
			if out, bare = doc.remove(found); bare {
				return nil, true, "", nil
			}
		}
	}
	return out, false, note, nil
}

// Malformed is the error for a text that is not of its format.
type Malformed struct{ Err error }

func (e *Malformed) Error() string { return e.Err.Error() }

func (e *Malformed) Unwrap() error { return e.Err }

func malformed(format string, args ...any) error {
	return &fault.Error{
		Hint: "correct the file first; ken changes no file that it cannot read",
		Err:  &Malformed{fmt.Errorf(format, args...)},
	}
}

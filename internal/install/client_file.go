package install

import (
	"bytes"
	"fmt"
	"path"
	"slices"

	"ken/internal/fault"
)

// Install adds ken to a text; nil is a missing file. A second time changes nothing. Entries
// named ken that somebody else added stay.
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
	if err != nil {
		return FileChange{}, err
	}
	action := "added"
	if bytes.Equal(out, text) {
		action = "updated"
	}
	out, _, _, err = f.removeParts(out, f.Retired)
	switch {
	case err != nil:
		return FileChange{}, err
	case bytes.Equal(out, text):
		return FileChange{Action: "kept", Note: note}, nil
	}
	if note == "" {
		note = f.Note
	}
	return FileChange{Op: Rewrite, Text: out, Action: action, Note: note}, nil
}

// Uninstall removes ken from a text, and restores the text before [ClientFile.Install]. It
// removes a file that ken created if nothing else is in it.
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
	out, bare, note, err := f.removeParts(text, slices.Concat(f.Retired, f.Parts))
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

// CountParts counts the entries of ken in a text, also those that ken did not add; nil is a missing file. A server named
// ken that starts another program is foreign.
func (f ClientFile) CountParts(text []byte) (own, foreign int, err error) {
	if text == nil || f.isBlank(text) {
		return 0, 0, nil
	}
	if f.Format == TOML {
		return countTOML(text)
	}
	doc, err := parse(text)
	if err != nil {
		return 0, 0, err
	}
	for _, p := range f.Parts {
		found, err := doc.find(p)
		switch {
		case err != nil:
			return own, foreign, err
		case found == nil:
		case p.Name != "" && !found.runsKen():
			foreign++
		default:
			own++
		}
	}
	return own, foreign, nil
}

// MentionsKen reports whether a text that cannot be parsed probably contains ken: only ken
// creates the file, or the text has the name as a server or a hook does.
func (f ClientFile) MentionsKen(text []byte) bool {
	if path.Base(f.Path) == serverName+".json" {
		return true
	}
	words := []string{`"` + serverName + `"`, "." + serverName + "]", serverName + " hook "}
	return slices.ContainsFunc(words, func(word string) bool { return bytes.Contains(text, []byte(word)) })
}

// newText returns the text of a new file.
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

// space has the white space of JSON.
const space = " \t\r\n"

// isBlank reports whether a JSON file is empty, as some clients create it.
func (f ClientFile) isBlank(text []byte) bool {
	return f.Format == JSON && len(bytes.Trim(text, space)) == 0
}

// newTextFrom returns the text for a blank file. It keeps the white space, and marks the text
// so that Uninstall restores a blank file instead of removing it or leaving {}.
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

// addParts adds the entries that are missing.
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

// removeParts removes entries, the last one first. bare says that nothing else is in a
// file that ken created.
func (f ClientFile) removeParts(text []byte, parts []Part) (out []byte, bare bool, note string, err error) {
	if len(parts) == 0 {
		return text, false, "", nil
	}
	if f.Format == TOML {
		return removeTOML(text)
	}
	out = text
	for _, p := range slices.Backward(parts) {
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

// Malformed is the error for a text that is not in the format of its file.
type Malformed struct{ Err error }

func (e *Malformed) Error() string { return e.Err.Error() }

func (e *Malformed) Unwrap() error { return e.Err }

func malformed(format string, args ...any) error {
	return &fault.Error{
		Hint: "correct the file first; ken changes no file that it cannot read",
		Err:  &Malformed{fmt.Errorf(format, args...)},
	}
}

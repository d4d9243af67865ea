package fault

// An Unknown is something that an answer does not know, since a part of the repository could not be read or judged.
// Each answer lists them; they are never shown as good news.
type Unknown struct {
	What    string `json:"what"`              // the part of the answer that may be incomplete: "users", "drift", "documents"; "" is all of it
	Why     string `json:"why"`               // the reason, with the file or the number of files
	Command string `json:"command,omitempty"` // a command that helps; "" if there is none
}

// Text returns the reason and the command, each as quote returns it.
func (u Unknown) Text(quote func(string) string) string {
	if u.Command == "" {
		return quote(u.Why)
	}
	return quote(u.Why) + ": " + quote(u.Command)
}

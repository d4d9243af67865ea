package fault

// An Unknown is something that an answer does not know, since a part of the repository could not be read or judged.
// Each answer lists them; they are never shown as good news.
type Unknown struct {
	What    string `json:"what"`              // the part of the answer that may be incomplete: "users", "drift", "documents"; "" is all of it
	Why     string `json:"why"`               // the reason, with the file or the number of files
	Command string `json:"command,omitempty"` // a command that helps, or a hint that ends with one; "" if there is none
}

// NewUnknown returns that a part of an answer is unknown because of an error.
func NewUnknown(what string, err error) Unknown { return Unknown{what, err.Error(), HintOf(err)} }

// String returns what is unknown, and why.
func (u Unknown) String() string { return u.What + ": " + u.Why }

// Text returns the reason and the command, each as quote returns it.
func (u Unknown) Text(quote func(string) string) string {
	if u.Command == "" {
		return quote(u.Why)
	}
	return quote(u.Why) + ": " + quote(u.Command)
}

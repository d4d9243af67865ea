package docs

import "ken/internal/repo"

// A Document is what a document says of its repository.
type Document struct {
	Path     repo.Path
	Mentions []Mention // in the document's order
	Acks     []Ack     // likewise
}

// An Ack is an acknowledgement that stands in the document itself, in a comment:
//
//	<!-- ken:ok MENTION [reason] -->         that mention, anywhere in the document
//	<!-- ken:ok [-- reason] -->              the block it stands in, or the next one if it stands alone
//	<!-- ken:off --> ... <!-- ken:on -->     everything between the two
type Ack struct {
	Line    int
	Mention string // "" if it covers a stretch
	Reason  string
	Covers  int // how many mentions
}

// Read returns what a document mentions. It reads the whole of it in time that
// grows with its size alone; a document that is too large or no text is an error.
func Read(path repo.Path, content []byte) (*Document, error) {
	return &Document{Path: path}, nil
}

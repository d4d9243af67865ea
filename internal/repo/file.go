package repo

// A File is a tracked path of a tree with the id of its content. A list of files says which of the other fields
// are set.
type File struct {
	Path     Path
	ID       ID // of its content; zero if the content is unknown
	Mode     Mode
	Size     int64
	Kind     Kind
	Excluded string // why the policy excludes it from summaries; "" if it does not
	Problem  string // why its content is unknown; "" if it is known
}

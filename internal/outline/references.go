package outline

// MaxUseLines is how many lines of a use are listed; further places are counted.
const MaxUseLines = 5

// References lists what a file refers to: its imports with the names they bind, and the
// names it uses but does not declare. Like an Outline it is a function of the file's name
// and bytes, kept under the content id and Version.
type References struct {
	Imports []Import `json:"imports,omitempty"`
	Uses    []Use    `json:"uses,omitempty"` // each (Qualifier, Member, Name, Kind) once, in order of first line
	More    int      `json:"more,omitempty"` // uses beyond the limit
}

// An Import names another module or file.
type Import struct {
	Module   string    `json:"module"`             // as spelt, without quotes: "./a", "ken/internal/repo", "..pkg.mod", "crate::net::Conn", "stdio.h"
	Names    []Binding `json:"names,omitempty"`    // the names it binds in this file; empty for a bare import (side effects, C includes)
	Reexport bool      `json:"reexport,omitempty"` // export … from, pub use
	Line     int       `json:"line"`
}

// A Binding is one imported name: {Name: "*"} is all names; {Name: "", As: "ns"} is the
// module itself; {Name: "default", As: "React"} a default export.
type Binding struct {
	Name string `json:"name,omitempty"`
	As   string `json:"as,omitempty"` // the local name, "" when it is Name
}

// Local is the name that the binding has in the file, "" for "*".
func (b Binding) Local() string {
	switch {
	case b.As != "":
		return b.As
	case b.Name == "*":
		return ""
	}
	return b.Name
}

// A UseKind is how a name is used: call, literal, type, match, or "" for any other mention.
type UseKind string

// A Use is a name that the file uses and does not declare.
type Use struct {
	Qualifier string  `json:"qualifier,omitempty"` // the names before the last dot: pkg in pkg.Name
	Member    bool    `json:"member,omitempty"`    // it comes after a dot; Qualifier is "" when an expression stands before it
	Name      string  `json:"name"`
	Kind      UseKind `json:"kind,omitempty"`
	Lines     []int   `json:"lines"` // the first MaxUseLines lines, ascending, each once
	More      int     `json:"more,omitempty"`
}

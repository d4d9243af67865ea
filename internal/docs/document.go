package docs

import "ken/internal/repo"

// A Role is what a document is there for. The zero one is no document.
type Role string

// The roles, those first whose mistakes cost most.
const (
	Agent    Role = "agent"    // instructions, skills, commands and rules for agents
	Guide    Role = "guide"    // read before working: README, CONTRIBUTING, ARCHITECTURE
	Decision Role = "decision" // a record of a decision
	Page     Role = "page"     // any other
)

// RoleOf returns what the file is there for, "" if it is no document.
func RoleOf(p repo.Path) Role { return "" }

// IsDocument reports whether a file is prose to be judged.
func IsDocument(p repo.Path) bool { return RoleOf(p) != "" }

// Historical reports whether a document speaks of the past or of another project.
// Those are judged only on demand.
func Historical(p repo.Path) bool { return false }

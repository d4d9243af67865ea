package team

// Agreed reports whether the base may be gone to without asking: see [Team.Agree].
func (t *Team) Agreed() bool { return t.agreed() }

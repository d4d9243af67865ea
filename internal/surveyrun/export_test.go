package surveyrun

// Waiting is how many wait for a slot.
func (f *Fair) Waiting() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.parties {
		n += len(p.waiting)
	}
	return n
}

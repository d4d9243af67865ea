package surveyrun

// Waiting counts the callers that wait for a slot.
func (f *FairLimiter) Waiting() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, p := range f.parties {
		n += len(p.waiting)
	}
	return n
}

package survey

import "ken/internal/fresh"

// shared names what a text about a directory is written from, which directories that hold the
// same have in common; it is zero for outlines: they are made faster than waited for.
func (r *run) shared(st *DirStatus) fresh.Digest {
	if outlines(r.writer) {
		return fresh.Digest{}
	}
	return r.basis(st).Digest()
}

// wake has the directories go on that waited for one of the same basis: if there is a text
// of it now, they have it too.
func (r *run) wake(basis fresh.Digest) {
	for _, st := range r.waitingForSame[basis] {
		r.queue.again(st)
	}
	delete(r.waitingForSame, basis)
}

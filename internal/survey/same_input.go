package survey

import "ken/internal/fresh"

// sharedBasis returns the basis of a directory, which it may share with others. It is zero for outlines, which are
// faster to make than to wait for.
func (r *run) sharedBasis(st *DirStatus) fresh.Digest {
	if outlines(r.writer) {
		return fresh.Digest{}
	}
	return r.basis(st).Digest()
}

// resumeWaiting makes the directories ready again that waited for another one with the same basis. If that one has
// a text now, they have it too.
func (r *run) resumeWaiting(basis fresh.Digest) {
	for _, st := range r.waitingForSame[basis] {
		r.queue.again(st)
	}
	delete(r.waitingForSame, basis)
}

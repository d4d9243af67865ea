package syntax

// A slab hands out memory that is used again for the next text: most of the time that
// parsing takes would go into getting and collecting it.
type slab[T any] struct {
	chunks [][]T
	at     int // the chunk in use
	used   int // of it
}

const (
	slabChunk = 1024
	// slabKept is how many chunks are kept for the next text; few need more.
	slabKept = 8
)

// take returns n of them, which hold whatever they held.
func (s *slab[T]) take(n int) []T {
	for {
		if s.at == len(s.chunks) {
			s.chunks = append(s.chunks, make([]T, max(slabChunk, n)))
		}
		if c := s.chunks[s.at]; s.used+n <= len(c) {
			s.used += n
			return c[s.used-n : s.used : s.used]
		}
		s.at, s.used = s.at+1, 0
	}
}

// reset takes all of them back.
func (s *slab[T]) reset() {
	if len(s.chunks) > slabKept {
		clear(s.chunks[slabKept:])
		s.chunks = s.chunks[:slabKept]
	}
	s.at, s.used = 0, 0
}

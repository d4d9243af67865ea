package syntax

// A slab allocates memory that is reused for the next text. Without it, allocation and garbage collection
// would take most of the time of a parse.
type slab[T any] struct {
	chunks [][]T
	at     int // index of the current chunk
	used   int // elements used in the current chunk
}

const (
	slabChunk = 1024
	// maxKeptChunks limits the chunks that are kept for the next text. Few texts need more.
	maxKeptChunks = 8
)

// take returns n elements. They are not cleared.
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

// reset frees all elements for reuse.
func (s *slab[T]) reset() {
	if len(s.chunks) > maxKeptChunks {
		clear(s.chunks[maxKeptChunks:])
		s.chunks = s.chunks[:maxKeptChunks]
	}
	s.at, s.used = 0, 0
}

package spec

// Reads counts the reads of a reader. A function is called once, after the first read of its kind.
type Reads struct {
	Histories int // how often the history was read
	Commits   int // how often the specs of a commit were listed
	Specs     int // how often the spec files of the work tree were read

	AfterHistory, AfterSpecs, AfterUnchanged func()
}

// Observe makes the reader count its reads in reads.
func (r *Reader) Observe(reads *Reads) *Reader {
	once := func(f *func()) {
		if call := *f; call != nil {
			*f = nil
			call()
		}
	}
	r.observe = func(e readEvent) {
		switch e {
		case readHistory:
			reads.Histories++
			once(&reads.AfterHistory)
		case readCommit:
			reads.Commits++
		case readSpecs:
			reads.Specs++
			once(&reads.AfterSpecs)
		case readUnchanged:
			once(&reads.AfterUnchanged)
		}
	}
	return r
}

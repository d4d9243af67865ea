package repo

import "strconv"

// Blob returns the id that git stores these bytes under.
func (f ObjectFormat) Blob(content []byte) ID {
	h := f.New()
	h.Write(append(strconv.AppendInt([]byte("blob "), int64(len(content)), 10), 0))
	h.Write(content)
	return IDFromBytes(h.Sum(nil))
}

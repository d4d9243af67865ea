//go:build !unix

package git

// loadFile returns the bytes of a regular file of at most limit bytes, which must
// not be written to.
func loadFile(name string, limit int64) ([]byte, error) {
	data, _, err := readFile(name, limit)
	return data, err
}

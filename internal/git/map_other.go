//go:build !unix

package git

// loadFile returns the content of a regular file of at most limit bytes. The caller must not change it.
func loadFile(name string, limit int64) ([]byte, error) {
	data, _, err := readFile(name, limit)
	return data, err
}

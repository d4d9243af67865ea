package history

import (
	"encoding/binary"
	"hash/crc32"

	"ken/internal/repo"
)

// A MergedFile says who made the content of a file in a merge commit: git, or a person.
type MergedFile struct {
	Commit repo.ID
	Path   repo.Path
	ByGit  bool
}

// mergesMagic changes with the layout, and with what makes a verdict.
const mergesMagic = "kenmerg\x01"

// DecodeMerges reads a file that [EncodeMerges] made for the same key. Whatever is wrong with
// it, it holds nothing.
//
//	magic, key, checksum of the rest; then for each verdict the id of the commit,
//	1 for git and 0 for a person, and the path with its length before it
func DecodeMerges(data []byte, key Key, format repo.ObjectFormat) []MergedFile {
	start := len(mergesMagic) + len(key) + 4
	if len(data) < start || string(data[:start-4]) != mergesMagic+string(key[:]) {
		return nil
	}
	rest := reader(data[start:])
	if crc32.Checksum(rest, crcTable()) != binary.LittleEndian.Uint32(data[start-4:]) {
		return nil
	}
	var list []MergedFile
	size := format.Size()
	for len(rest) > size {
		f := MergedFile{Commit: repo.IDFromBytes(rest[:size]), ByGit: rest[size] == 1}
		rest = rest[size+1:]
		f.Path = repo.Path(rest.text())
		list = append(list, f)
	}
	return list
}

// EncodeMerges returns the bytes of a file that keeps verdicts under a key.
func EncodeMerges(key Key, list []MergedFile) []byte {
	var body []byte
	for _, f := range list {
		body = append(body, f.Commit.Bytes()...)
		mark := byte(0)
		if f.ByGit {
			mark = 1
		}
		body = append(body, mark)
		body = appendText(body, string(f.Path))
	}
	data := append([]byte(mergesMagic), key[:]...)
	data = binary.LittleEndian.AppendUint32(data, crc32.Checksum(body, crcTable()))
	return append(data, body...)
}

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

// mergesMagic is the version of the format and of the rules for verdicts.
const mergesMagic = "kenmerg\x01"

// DecodeMerges reads a file of [EncodeMerges]. It returns nil if the file is invalid or has another
// key. The format is:
//
//	magic, key, checksum of the rest; for each verdict the id of the commit,
//	1 for git or 0 for a person, the length of the path, the path
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

// EncodeMerges returns the content of a file with verdicts for a key.
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

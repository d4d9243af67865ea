// Package cache stores answers, each under the digest of everything that it was made
// from. So an answer is never out of date: if an input changes, the digest does, and the
// answer is not found.
//
// The answers of all worktrees of a clone are in one directory. You may delete it at any
// time: ken then answers more slowly. Loading never writes. Saving removes the entries
// that were written first once there are too many.
//
// A key may also name only the place that an answer is for, such as a worktree. Then the
// answer includes its inputs, and the caller compares them after loading.
//
// The caller decides what an answer is made from, and saves none that contains an unknown
// part. There is one exception: an object that git does not have. Such an answer may be
// saved if the object's absence is part of its key.
package cache

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ken/internal/atomicfile"
)

const (
	maxEntry   = 64 << 20 // bytes of one answer
	maxBytes   = 64 << 20 // bytes of all older answers together
	maxEntries = 1000
)

// A Cache is the answers of one clone. It may be used from several goroutines and by
// several processes.
type Cache struct {
	dir     string
	program string
}

// Open returns the cache of the clone whose git directories share commonDir. It touches no
// file. program identifies the build of ken: another build may answer differently, so it is
// part of every key.
func Open(commonDir, program string) *Cache {
	return &Cache{dir: filepath.Join(commonDir, "ken", "cache", "digests"), program: program}
}

// A Key is the digest of everything that an answer is made from. Write every input to it,
// each with its length or quoted, so that two lists of inputs do not read the same.
type Key struct {
	kind string
	sum  hash.Hash
}

// Key begins the key of a kind of answer. The kind is a word that can stand in a file name.
func (c *Cache) Key(kind string) *Key {
	k := &Key{kind: kind, sum: sha256.New()}
	fmt.Fprintf(k, "%q %q\n", kind, c.program)
	return k
}

// Write adds input to the key.
func (k *Key) Write(input []byte) (int, error) { return k.sum.Write(input) }

// Sum returns the digest of the inputs so far.
func (k *Key) Sum() []byte { return k.sum.Sum(nil) }

// file returns the name of a key's entry.
func (c *Cache) file(k *Key) string {
	return filepath.Join(c.dir, k.kind+"-"+hex.EncodeToString(k.Sum()))
}

// Load returns the answer that was saved under a key; ok is false if there is none. A
// damaged entry counts as missing.
func (c *Cache) Load(k *Key) (answer []byte, ok bool) {
	f, err := os.Open(c.file(k))
	if err != nil {
		return nil, false
	}
	defer f.Close()
	entry, err := io.ReadAll(io.LimitReader(f, maxEntry+1))
	if err != nil || len(entry) < len(checksum(nil)) || len(entry) > maxEntry {
		return nil, false
	}
	answer = entry[len(checksum(nil)):]
	return answer, string(checksum(answer)) == string(entry[:len(entry)-len(answer)])
}

// Save stores an answer under a key. An answer that cannot be stored is made again the next
// time, so there is no error.
func (c *Cache) Save(k *Key, answer []byte) {
	entry := append(checksum(answer), answer...)
	if len(entry) > maxEntry || os.MkdirAll(c.dir, 0o777) != nil {
		return
	}
	c.evict()
	_ = atomicfile.WriteCache(c.file(k), entry) // see above
}

// checksum returns the header of an entry: the CRC-32 of the answer in hex.
func checksum(answer []byte) []byte { return fmt.Appendf(nil, "%08x", crc32.ChecksumIEEE(answer)) }

// evict removes the entries that were written first until the rest is small enough, and
// temporary files of crashed processes.
func (c *Cache) evict() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	var files []os.FileInfo
	total := int64(0)
	for _, e := range entries {
		info, err := e.Info()
		switch {
		case err != nil || !info.Mode().IsRegular():
		case strings.HasSuffix(e.Name(), atomicfile.Suffix):
			if time.Since(info.ModTime()) > time.Hour {
				c.remove(info)
			}
		default:
			files = append(files, info)
			total += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b os.FileInfo) int {
		return cmp.Or(a.ModTime().Compare(b.ModTime()), cmp.Compare(a.Name(), b.Name()))
	})
	for len(files) >= maxEntries || total > maxBytes {
		c.remove(files[0])
		total -= files[0].Size()
		files = files[1:]
	}
}

// remove deletes an entry. Another process may have done so already.
func (c *Cache) remove(info os.FileInfo) { _ = os.Remove(filepath.Join(c.dir, info.Name())) }

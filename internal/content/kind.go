package content

import (
	"bytes"
	"strings"

	"ken/internal/repo"
)

// headSize is as much of a file as KindOf looks at.
const headSize = 8 << 10

// KindOf says what kind of file path is, by its name, its directories and the
// first bytes of its content: all of it, or at least its first 8 KiB. Text
// that no table knows is data.
//
// What a file can never be summarised for comes first: an LFS pointer, a
// lockfile, a binary stay that wherever they lie. Then whose it is: vendored,
// generated. Then what it is for.
func KindOf(path repo.Path, head []byte) repo.Kind {
	if isLFS(head) {
		return repo.KindLFS
	}
	n := nameOf(path)
	switch {
	case isLockfile(n.base):
		return repo.KindLockfile
	case isBinary(head) || isBinaryExt(n.ext):
		return repo.KindBinary
	case isVendored(string(path), n):
		return repo.KindVendored
	}
	kind := isFor(n, head)
	switch {
	case isGeneratedName(n) || isGeneratedText(head, kind == repo.KindDoc, n.ext == "go"):
		return repo.KindGenerated
	case isTest(string(path), n, kind):
		return repo.KindTest
	}
	return kind
}

// KindByName is KindOf for a file that nobody has read.
func (t *Tree) KindByName(path repo.Path) repo.Kind { return KindOf(path, nil) }

// A name is the last element of a path, in lower case for the tables.
type name struct {
	real string // as it is spelt
	base string // in lower case
	stem string // base without its last extension
	ext  string // in lower case, without the dot; "" when there is none
}

func nameOf(path repo.Path) name {
	n := name{real: path.Base()}
	n.base = lower(n.real)
	n.stem = n.base
	if i := strings.LastIndexByte(n.base, '.'); i > 0 { // a leading dot hides, it does not extend
		n.stem, n.ext = n.base[:i], n.base[i+1:]
	}
	return n
}

// lower puts ASCII into lower case and leaves all other bytes, so that nothing
// changes its place. It allocates only where something is in upper case.
func lower(s string) string {
	for i := range len(s) {
		if s[i] >= 'A' && s[i] <= 'Z' {
			b := []byte(s)
			for j := i; j < len(b); j++ {
				if b[j] >= 'A' && b[j] <= 'Z' {
					b[j] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// isFor says what a file that people wrote is for: source, config, doc, data.
func isFor(n name, head []byte) repo.Kind {
	if k := kindOfName(n); k != repo.KindUnknown {
		return k
	}
	if n.ext == "sql" && isDump(head) {
		return repo.KindData
	}
	if k := kindOfExt(n.ext); k != repo.KindUnknown {
		return k
	}
	if bytes.HasPrefix(head, []byte("#!")) {
		return repo.KindSource
	}
	return repo.KindData
}

// isDump reports SQL that a database wrote to be read back.
func isDump(head []byte) bool {
	for _, mark := range [...]string{
		"-- MySQL dump", "-- MariaDB dump", "/*!999999", "-- phpMyAdmin SQL Dump",
		"--\n-- PostgreSQL database dump", "PRAGMA foreign_keys=OFF;\nBEGIN TRANSACTION;",
	} {
		if len(head) >= len(mark) && string(head[:len(mark)]) == mark {
			return true
		}
	}
	return false
}

// isLFS reports a Git LFS pointer, whose specification keeps it under 1024 bytes.
func isLFS(head []byte) bool {
	const mark = "version https://git-lfs.github.com/spec/v1\n"
	return len(head) < 1024 && len(head) >= len(mark) && string(head[:len(mark)]) == mark
}

// isBinary reports content with a NUL in its first 8000 bytes, which is git's
// own test, except UTF-16: people write that, and half of it is NULs.
func isBinary(head []byte) bool {
	head = head[:min(len(head), 8000)]
	return bytes.IndexByte(head, 0) >= 0 && !isUTF16(head)
}

// isUTF16 reports text that begins with a byte order mark and holds no NUL
// character, which a binary that happens to begin so would.
func isUTF16(head []byte) bool {
	utf16 := bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff})
	if !utf16 {
		return false
	}
	for i := 2; i+1 < len(head); i += 2 {
		if head[i] == 0 && head[i+1] == 0 {
			return false
		}
	}
	return true
}

// isVendored reports files of other projects, by the directories that tools put
// them in, and the wrappers that tools drop beside the code.
func isVendored(path string, n name) bool {
	if isWrapper(n.base) {
		return true
	}
	return anyDir(path, isVendorDir)
}

// anyDir reports whether is says yes to one of the directories path lies in.
func anyDir(path string, is func(elem string) bool) bool {
	for {
		elem, rest, more := strings.Cut(path, "/")
		if !more {
			return false
		}
		if is(elem) {
			return true
		}
		path = rest
	}
}

// isTest reports files that are for tests only: by the name that a test runner
// looks for, or by the directory. Prose stays prose beside tests, except in
// testdata, where everything is input.
func isTest(path string, n name, kind repo.Kind) bool {
	if kind == repo.KindSource && isTestName(n) {
		return true
	}
	if anyDir(path, func(elem string) bool { return elem == "testdata" }) {
		return true
	}
	if kind == repo.KindDoc {
		return false
	}
	return anyDir(path, isTestDir) || isSpecLanguage(n.ext) && anyDir(path, isSpecDir)
}

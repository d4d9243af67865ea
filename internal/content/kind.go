package content

import (
	"bytes"
	"strings"

	"ken/internal/repo"
)

// headSize is the number of bytes that KindOf examines.
const headSize = 8 << 10

// KindOf returns the kind of a file by its name, its directories and the beginning of its content. head must
// have at least 8 KiB, or the whole file. Text with an unknown name is data.
//
// LFS pointers, lockfiles and binaries come first: their directory does not matter. Then come vendored and
// generated files. The rest is classified by purpose.
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
	kind := kindByPurpose(n, head)
	switch {
	case isGeneratedName(n) || isGeneratedText(head, kind == repo.KindDoc, n.ext == "go"):
		return repo.KindGenerated
	case path.ForTests() && (kind != repo.KindDoc || isTestdata(string(path))):
		return repo.KindTest
	}
	return kind
}

// KindByName is KindOf without content.
func (t *Tree) KindByName(path repo.Path) repo.Kind { return KindOf(path, nil) }

// A name is the last element of a path, prepared for the tables.
type name struct {
	real string // as written
	base string // in lower case
	stem string // base without its last extension
	ext  string // in lower case, without the dot; "" if there is none
}

func nameOf(path repo.Path) name {
	n := name{real: path.Base()}
	n.base = lower(n.real)
	n.stem = n.base
	if i := strings.LastIndexByte(n.base, '.'); i > 0 { // a leading dot does not begin an extension
		n.stem, n.ext = n.base[:i], n.base[i+1:]
	}
	return n
}

// lower converts ASCII to lower case. It leaves all other bytes unchanged, so offsets stay the same. It
// allocates only if the string has upper case.
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

// kindByPurpose returns the kind of a hand-written file: source, config, doc or data.
func kindByPurpose(n name, head []byte) repo.Kind {
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

// isDump reports whether a file is SQL that a database tool wrote.
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

// isLFS reports whether a file is a Git LFS pointer. The specification limits it to less than 1024 bytes.
func isLFS(head []byte) bool {
	const mark = "version https://git-lfs.github.com/spec/v1\n"
	return len(head) < 1024 && len(head) >= len(mark) && string(head[:len(mark)]) == mark
}

// isBinary reports whether the first 8000 bytes have a NUL, as git does. UTF-16 text is an exception, since
// half of its bytes are NULs.
func isBinary(head []byte) bool {
	head = head[:min(len(head), 8000)]
	return bytes.IndexByte(head, 0) >= 0 && !isUTF16(head)
}

// isUTF16 reports whether head begins with a byte order mark and has no NUL character. The latter excludes
// binary files that begin with the same bytes.
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

// isVendored reports whether a file belongs to another project: by its directory, or because it is a wrapper
// script of a build tool.
func isVendored(path string, n name) bool {
	if isWrapper(n.base) {
		return true
	}
	return anyDir(path, isVendorDir)
}

// isTestdata reports whether a file is input of tests. Prose beside tests is for people, in testdata it is input.
func isTestdata(path string) bool {
	return anyDir(path, func(elem string) bool { return elem == "testdata" })
}

// anyDir reports whether is returns true for one of the directories of path.
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

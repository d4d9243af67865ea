package sqlite

import (
	"context"
	"path/filepath"

	"zombiezen.com/go/sqlite"
)

// setJournal chooses how a new database keeps its transactions whole.
//
// It is WAL, where readers and a writer do not wait for each other, unless the
// file system cannot be trusted with it. A database that exists keeps what it
// has: one that was once used across a mount where WAL is unsafe may be so again.
func (s *Store) setJournal(ctx context.Context, conn *sqlite.Conn) error {
	mode := `PRAGMA journal_mode = WAL`
	if !walIsSafe(filepath.Dir(s.path)) {
		mode = `PRAGMA journal_mode = TRUNCATE`
	}
	return s.patiently(ctx, func() error { return exec(conn, mode) })
}

// walSafeOn reports whether a file system, named by the magic number that statfs
// gives on Linux, can be trusted with write-ahead logging.
//
// WAL needs memory that every process with the database open shares, through a
// mapped file. Across machines, or between a host and its guest, there is none,
// and the database would be destroyed without an error. A file system that is
// not known here is taken for a local one.
func walSafeOn(magic uint32) bool {
	switch magic {
	case
		0x00006969, // NFS
		0x0000517b, // SMB
		0xff534d42, // CIFS
		0xfe534d42, // SMB2
		0x01021997, // 9p
		0x65735546, // FUSE and virtiofs
		0x786f4256, // VirtualBox's vboxsf
		0x7c7c6673, // Parallels' prl_fs
		0xbacbacbc, // VMware's hgfs
		0x5346414f, // AFS
		0x73757245, // Coda
		0x00c36400, // Ceph
		0x0bd00bd0, // Lustre
		0x47504653, // GPFS
		0x01161970, // GFS2
		0x7461636f: // OCFS2
		return false
	}
	return true
}

// walSafeOnNamed is walSafeOn where file systems have names.
func walSafeOnNamed(name string) bool {
	switch name {
	case "nfs", "smbfs", "webdav", "afpfs", "ftp", "9p", "virtiofs", "AppleVirtIOFS",
		"osxfuse", "macfuse", "fusefs", "acfs":
		return false
	}
	return true
}

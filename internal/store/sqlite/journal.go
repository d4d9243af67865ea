package sqlite

import (
	"context"
	"path/filepath"

	"zombiezen.com/go/sqlite"
)

// setJournal sets the journal mode of a new database.
//
// The mode is WAL, in which readers and a writer do not wait for each other, unless it is unsafe on the file
// system. An existing database keeps its mode, because it may be used again on a mount where WAL is unsafe.
func (s *Store) setJournal(ctx context.Context, conn *sqlite.Conn) error {
	return s.retryBusy(ctx, func() error { return exec(conn, journalMode(s.path)) })
}

// journalMode returns the statement that sets the journal mode of a new database at path.
func journalMode(path string) string {
	if walIsSafe(filepath.Dir(path)) {
		return `PRAGMA journal_mode = WAL`
	}
	return `PRAGMA journal_mode = TRUNCATE`
}

// walSafeOn reports whether WAL is safe on a file system, given its magic number from statfs on Linux.
//
// In WAL mode, all processes share memory through a mapped file. Machines, or a host and its guest, do not share
// memory, and the database would be damaged without an error. Unknown file systems count as local.
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

// walSafeOnNamed is walSafeOn for systems where statfs returns a name.
func walSafeOnNamed(name string) bool {
	switch name {
	case "nfs", "smbfs", "webdav", "afpfs", "ftp", "9p", "virtiofs", "AppleVirtIOFS",
		"osxfuse", "macfuse", "fusefs", "acfs":
		return false
	}
	return true
}

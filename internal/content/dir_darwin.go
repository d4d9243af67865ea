package content

import "golang.org/x/sys/unix"

// dirFlags opens a directory.
const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC

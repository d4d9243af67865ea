package content

import "golang.org/x/sys/unix"

// dirFlags opens a directory with O_PATH. That needs no permission to list the directory, and neither does
// opening a known name in it.
const dirFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC

package content

import "golang.org/x/sys/unix"

// dirFlags opens a directory as a place only: O_PATH asks for no permission to
// list it, which looking up a known name does not need either.
const dirFlags = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC

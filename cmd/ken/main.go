// Command ken keeps what coding agents know about a git repository, and proves
// that it is still true.
package main

import (
	"os"

	"ken/internal/app"
)

func main() { os.Exit(app.Main(os.Args[1:])) }

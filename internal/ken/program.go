package ken

import (
	"fmt"
	"os"
)

// program identifies this build of ken by its file, since another build may answer differently.
func program() string {
	name, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), " ", info.ModTime().UnixNano())
}

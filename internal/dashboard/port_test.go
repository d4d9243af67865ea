package dashboard

import (
	"fmt"
	"testing"
)

// The port depends only on the repository, and the system does not use it for outgoing connections.
func TestRepositoryPort(t *testing.T) {
	used := make(map[uint16]bool)
	for i := range 1000 {
		dir := fmt.Sprintf("/home/me/repository-%d/.git", i)
		port := Port(dir)
		if port != Port(dir) || port < 20000 || port > 29999 {
			t.Fatalf("%s has port %d, then %d; want one from 20000 to 29999", dir, port, Port(dir))
		}
		used[port] = true
	}
	if len(used) < 900 {
		t.Errorf("1000 repositories have %d ports; they should nearly all differ", len(used))
	}
}

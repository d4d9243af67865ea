package app

import (
	"testing"

	"ken/internal/testrepo"
)

func TestMain(m *testing.M) {
	defer testrepo.Isolate()()
	m.Run()
}

package state

import (
	"errors"
	"testing"
)

// A reader that saw the directory while it changed reads again.
func TestViewReadsAgain(t *testing.T) {
	a, b := archiveMark{mark: "a"}, archiveMark{mark: "b"}
	unfinished := archiveMark{mark: "b", unfinished: true}
	for name, tt := range map[string]struct {
		marks  []archiveMark
		reads  int
		locked bool
	}{
		"no change":                      {[]archiveMark{a, a}, 1, false},
		"one change":                     {[]archiveMark{a, b, b, b}, 2, false},
		"changes without end":            {[]archiveMark{a, b, a, b, a, b}, 3, true},
		"an unfinished change":           {[]archiveMark{unfinished}, 0, true},
		"a change that begins meanwhile": {[]archiveMark{a, unfinished, unfinished}, 1, true},
		"the archive is made meanwhile":  {[]archiveMark{{}, a, a, a}, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			looks, reads, locked := 0, 0, false
			look := func() (archiveMark, error) {
				looks++
				return tt.marks[looks-1], nil
			}
			read := func() error {
				reads++
				return nil
			}
			readLocked := func() error {
				locked = true
				return nil
			}
			if err := view(look, read, readLocked); err != nil {
				t.Fatal(err)
			}
			if reads != tt.reads || locked != tt.locked || looks != len(tt.marks) {
				t.Errorf("read %d times without the lock, with it %v; want %d, %v", reads, locked, tt.reads, tt.locked)
			}
		})
	}
}

// View returns the error of a reader, and of a look that failed.
func TestViewErrors(t *testing.T) {
	errRead, errLook := errors.New("read"), errors.New("look")
	quiet := func() (archiveMark, error) { return archiveMark{}, nil }
	failing := func() (archiveMark, error) { return archiveMark{}, errLook }
	if err := view(quiet, func() error { return errRead }, nil); !errors.Is(err, errRead) {
		t.Errorf("got %v, want the error of the reader", err)
	}
	if err := view(failing, func() error { return nil }, nil); !errors.Is(err, errLook) {
		t.Errorf("got %v, want the error of the look", err)
	}
}

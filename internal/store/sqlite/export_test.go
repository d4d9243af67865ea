package sqlite

import (
	"testing"

	"ken/internal/store"
)

// CountOneByOne makes commits keep the counts of rows by looking up each row
// that changes, however many there are.
func CountOneByOne(t testing.TB) {
	t.Helper()
	old := lookCost
	lookCost = 0
	t.Cleanup(func() { lookCost = old })
}

// What tests inside and outside of the package look at.
var (
	WALSafeOn      = walSafeOn
	WALSafeOnNamed = walSafeOnNamed
)

// What the tests of a basis need.
var AppendBasis = appendBasis

// ReadBasis reads one basis.
func ReadBasis(in []byte) (store.DirBasis, error) { return new(basisReader).read(in) }

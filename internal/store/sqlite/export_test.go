package sqlite

import (
	"testing"

	"ken/internal/store"
)

// CountOneByOne makes commits look up each changed row to update the counts.
func CountOneByOne(t testing.TB) {
	t.Helper()
	old := lookupCost
	lookupCost = 0
	t.Cleanup(func() { lookupCost = old })
}

// Functions for the tests of journals.
var (
	WALSafeOn      = walSafeOn
	WALSafeOnNamed = walSafeOnNamed
)

// AppendBasis encodes a basis.
var AppendBasis = appendBasis

// ReadBasis decodes a basis.
func ReadBasis(in []byte) (store.DirBasis, error) { return new(basisReader).read(in) }

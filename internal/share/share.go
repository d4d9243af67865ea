// Package share decides how what several clones know becomes one: which records travel,
// how a record is spelled, whose are taken over, and what is let go when there are too
// many.
//
// A [Record] is immutable and named by its content, so that joining two sets of them is
// a union, whatever the order. It knows nothing of how they travel: git's part belongs to
// internal/git, where records are kept to internal/store.
package share

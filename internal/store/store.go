// Package store defines the data that ken stores and the interfaces of its stores.
//
// It holds types and interfaces only. The packages below it implement them: sqlite in a
// file, local for a clone, and postgres the records alone, in the database of a team, which
// team exchanges with a clone. The features registry, survey and share use these types; store and
// the packages below it import no feature.
package store

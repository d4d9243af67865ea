// Package store defines the data that ken stores and the interfaces of its stores.
//
// It holds types and interfaces only. The packages below it implement them: sqlite and
// postgres in databases, memory for tests, local for a clone and team for a clone that
// shares a database. The features registry, survey and share use these types; store and
// the packages below it import no feature.
package store

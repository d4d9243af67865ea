// Package queue hands the directories of a survey to workers, by River on PostgreSQL.
package queue

import (
	_ "github.com/riverqueue/river"
	_ "github.com/riverqueue/river/riverdriver/riverpgxv5"
	_ "github.com/riverqueue/river/rivermigrate"
	_ "github.com/riverqueue/river/rivertype"
)

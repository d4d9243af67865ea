package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"zombiezen.com/go/sqlite"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/survey"
)

// An Unused is a record that is kept and not used, as if it were not there.
type Unused struct {
	Path      repo.Path // what it is about
	Directory bool
	Why       error // [fresh.ErrDamaged] or [fresh.ErrAhead]
}

// Label names what the record is about.
func (u Unused) Label() string {
	if u.Directory {
		return survey.Label(u.Path).String()
	}
	return u.Path.String()
}

// unusedRecords are those that were met so far. They are safe for concurrent use.
type unusedRecords struct {
	mu   sync.Mutex
	list map[string]Unused // by table and number
}

func (u *unusedRecords) add(one Unused, seq int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.list == nil {
		u.list = make(map[string]Unused)
	}
	u.list[fmt.Sprint(one.Directory, seq)] = one
}

func (u *unusedRecords) remove(directory bool, seq int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.list, fmt.Sprint(directory, seq))
}

func (u *unusedRecords) all() []Unused {
	u.mu.Lock()
	defer u.mu.Unlock()
	var list []Unused
	for _, one := range u.list {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b Unused) int {
		return strings.Compare(fmt.Sprint(a.Directory, a.Path, a.Why), fmt.Sprint(b.Directory, b.Path, b.Why))
	})
	return list
}

// Unused returns the records that this store has met so far and not used.
func (s *Store) Unused() []Unused { return s.unused.all() }

// latest is the time that no record may be later than, in microseconds since 1970.
func (s *Store) latest() int64 { return fresh.Latest(s.opts.Now()).UnixMicro() }

// unusable says why a record of that time is not used, nil for one that is; named says
// whether its id was made from its content.
func (s *Store) unusable(named bool, at time.Time) error {
	switch {
	case !named:
		return fresh.ErrDamaged
	case at.UnixMicro() > s.latest():
		return fresh.ErrAhead
	}
	return nil
}

// Examine reads every record, and returns those that are not used.
func (s *Store) Examine(ctx context.Context) ([]Unused, error) {
	err := s.read(ctx, func(conn *sqlite.Conn) error {
		var all Kept
		return all.texts(s, conn)
	})
	if errors.Is(err, ErrDrained) {
		err = nil
	}
	return s.Unused(), err
}

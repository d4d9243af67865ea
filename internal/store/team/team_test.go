package team_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ken/internal/allow"
	"ken/internal/fresh"
	"ken/internal/pgtest"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/local"
	"ken/internal/store/postgres"
	"ken/internal/store/storetest"
	"ken/internal/store/team"
)

// A clone is one with a store and a user's state of its own, whose clock stands still.
type clone struct {
	*local.Store
	dir, state string
	now        time.Time
	slow       time.Duration // that passes whenever somebody looks at the clock
	full       bool          // its disk has no room for anything
	repository string
	step       time.Duration // that a step of a visit may take; long, for busy machines
	refused    error         // why the base must not be contacted
}

// Absorb adds records, if there is room.
func (c *clone) Absorb(ctx context.Context, list []store.Record) error {
	if c.full {
		return errors.New("no space left on device")
	}
	return c.Store.Absorb(ctx, list)
}

func newClone(t *testing.T) *clone {
	t.Helper()
	c := &clone{dir: storetest.Dir(t), state: t.TempDir(), now: storetest.Epoch, repository: "r", step: time.Minute}
	c.Store = local.Open(local.Options{CommonDir: c.dir, StateDir: c.state})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// wait lets time pass.
func (c *clone) wait(d time.Duration) { c.now = c.now.Add(d) }

// command is one run of ken: it goes to the base when it begins and when it ends, and writes in
// between. It returns what the user was told.
func (c *clone) command(t *testing.T, address string, write ...fresh.Record) string {
	t.Helper()
	way := c.team(t, address)
	note := way.Arrive(t.Context())
	if len(write) > 0 {
		storetest.Commit(t, c, "", store.FileChanges{Records: write})
	}
	note += way.Leave(t.Context())
	if err := way.Close(); err != nil {
		t.Error(err)
	}
	return note
}

// quiet is a command that has nothing to say of the base.
func (c *clone) quiet(t *testing.T, address string, write ...fresh.Record) {
	t.Helper()
	if note := c.command(t, address, write...); note != "" {
		t.Errorf("it says: %s", note)
	}
}

func (c *clone) team(t *testing.T, address string) *team.Team {
	t.Helper()
	way, err := team.Open(team.Options{
		Address: address, Refused: c.refused, Local: c, StateDir: c.state, CommonDir: c.dir, Root: c.dir + "/work",
		Repository: func(context.Context) (string, error) { return c.repository, nil },
		Now: func() time.Time {
			c.wait(c.slow)
			return c.now
		},
		Step: c.step,
	})
	if err != nil {
		t.Fatal(err)
	}
	return way
}

// has returns the texts that a store has, sorted. One that is there twice is listed twice.
func has(t *testing.T, s store.Records) []string {
	t.Helper()
	list, _ := storetest.Since(t, s, "", 100)
	var texts []string
	for _, r := range list {
		if r.File != nil {
			texts = append(texts, r.File.Text)
		} else {
			texts = append(texts, r.Directory.Text)
		}
	}
	slices.Sort(texts)
	return texts
}

func want(t *testing.T, s store.Records, texts ...string) {
	t.Helper()
	slices.Sort(texts)
	if got := has(t, s); !slices.Equal(got, texts) {
		t.Errorf("it has %q, want %q", got, texts)
	}
}

// base opens the base of a repository, to look into it.
func base(t *testing.T, address, repository string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(address, postgres.Options{Repository: repository, Machine: "looking"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func text(s string) fresh.Record { return storetest.Record(s, s, len(s)) }

const (
	soon  = 6 * time.Second // later than a visit is good for
	later = time.Hour       // later than any base is left alone
)

// What one machine writes, the next command of another one has.
func TestTwoMachines(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("by ann"))
	storetest.Keep(t, ann.Store, storetest.Directory("d", "d", 1))
	ann.wait(soon)
	ann.quiet(t, address)
	bob.quiet(t, address, text("by bob"))
	want(t, bob, "by ann", "about d", "by bob")
	ann.wait(soon)
	ann.quiet(t, address)
	want(t, ann, "by ann", "about d", "by bob")
	want(t, base(t, address, "r"), "by ann", "about d", "by bob")
}

// Nobody is sent what he has: neither his own words from the base, nor what came from there
// back to it.
func TestNothingTravelsTwice(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	for i := range 3 {
		ann.quiet(t, address, text(fmt.Sprint("ann ", i)))
		ann.wait(soon)
	}
	moved := func(c *clone) team.Moved {
		way := c.team(t, address)
		defer way.Close()
		m, err := way.Sync(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		who  *clone
		want team.Moved
	}{{ann, team.Moved{}}, {bob, team.Moved{Pulled: 3}}, {bob, team.Moved{}}, {ann, team.Moved{}}} {
		if got := moved(c.who); got != c.want {
			t.Errorf("moved %+v, want %+v", got, c.want)
		}
	}
}

// Long texts go in steps that a slow line takes in time.
func TestLongTexts(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	const n, long = 12, 100 << 10
	var list []fresh.Record
	for i := range n {
		list = append(list, storetest.Record(strings.Repeat(fmt.Sprint(i%10), long), fmt.Sprint(i), i))
	}
	ann.quiet(t, address, list...)
	if got := len(has(t, base(t, address, "r"))); got != n {
		t.Errorf("%d records, want %d", got, n)
	}
	most := pgtest.One[int](t, address, `SELECT max(bytes) FROM (SELECT sum(length(text)) AS bytes FROM ken.record GROUP BY xmin::text) step`)
	if most > 256<<10 || most < long {
		t.Errorf("%d bytes in a step", most)
	}
}

// Repositories on one server do not see each other's words, nor machines.
func TestRepositoriesApart(t *testing.T) {
	address := pgtest.Database(t)
	ann, eve := newClone(t), newClone(t)
	eve.repository = "another"
	storetest.Commit(t, ann, "", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "x")}, Baseline: &store.Verification{Head: storetest.ID("h"), At: storetest.Epoch}})
	ann.quiet(t, address, text("secret"))
	eve.quiet(t, address, text("other"))
	eve.wait(soon)
	eve.quiet(t, address)
	want(t, eve, "other")
	want(t, base(t, address, "another"), "other")
	if list, err := base(t, address, "another").Machines(t.Context()); err != nil || len(list) > 0 {
		t.Errorf("machines of another repository: %v, %v", list, err)
	}
}

// Who has gone to another repository of the server, and comes back to the one before, has not lost
// his place there: what both sides have is neither unsent nor unpulled.
func TestThereAndBack(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	ann.quiet(t, address, text("first"))
	for i, name := range []string{"x", "y", "r"} {
		ann.repository = name
		ann.wait(later)
		if name != "r" {
			ann.quiet(t, address, text(fmt.Sprint("more ", i)))
		}
	}
	if b := ann.status(t, address); b.Unsent != 2 || b.Unpulled != 0 {
		t.Errorf("back again: %d unsent, %d unpulled", b.Unsent, b.Unpulled)
	}
	ann.quiet(t, address)
	if b := ann.status(t, address); !b.Current() || b.Records != 3 {
		t.Errorf("in step: %+v", b)
	}
	want(t, base(t, address, "x"), "first", "more 0")
	want(t, base(t, address, "r"), "first", "more 0", "more 1")
	// One that was emptied meanwhile gets everything again.
	ann.repository = "x"
	pgtest.Exec(t, address, `DELETE FROM ken.record WHERE repository = (SELECT id FROM ken.repository WHERE name = 'x')`)
	ann.wait(later)
	ann.quiet(t, address)
	want(t, base(t, address, "x"), "first", "more 0", "more 1")
}

// What the local store could not take is not passed over: it comes once there is room.
func TestNoRoomHere(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("by ann"))
	bob.full = true
	if note := bob.command(t, address); note == "" {
		t.Error("nobody says that there is no room")
	}
	bob.full = false
	bob.wait(later)
	bob.quiet(t, address)
	want(t, bob, "by ann")
}

// A visit that took all the time there is goes on with the next command, however soon.
func TestEnoughForNow(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("by ann"))
	bob.slow = 15 * time.Second
	if note := bob.command(t, address); note == "" {
		t.Error("nobody says that there is more")
	}
	want(t, bob)
	bob.slow = 0
	bob.quiet(t, address)
	want(t, bob, "by ann")
}

// A visit that the user has broken off says nothing of the base.
func TestBrokenOff(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	way := ann.team(t, address)
	defer way.Close()
	if note := way.Arrive(ctx); note != "" {
		t.Error(note)
	}
	ann.quiet(t, address, text("by ann"))
	want(t, base(t, address, "r"), "by ann")
}

// A clock that was put back keeps nobody from the base.
func TestClockPutBack(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	bob.quiet(t, address)
	ann.quiet(t, address, text("by ann"))
	bob.wait(-later)
	bob.quiet(t, address)
	want(t, bob, "by ann")
}

// A base that is away from the start is noted once, left alone for a while, and caught up with.
func TestAwayFromTheStart(t *testing.T) {
	server := pgtest.Start(t)
	address := server.Database(t)
	server.Stop(t)
	ann := newClone(t)
	note := ann.command(t, address, text("off line"))
	if !strings.Contains(note, "no server listens there") || strings.Count(note, "nothing is lost") != 1 {
		t.Errorf("it says: %s", note)
	}
	ann.quiet(t, address, text("later"))
	want(t, ann, "off line", "later")
	bob := newClone(t)
	if note := bob.command(t, address, text("bob's")); note == "" {
		t.Error("nobody says that the base is away")
	}
	eve := newClone(t)
	if note := eve.command(t, address, text("eve's")); note == "" {
		t.Error("nobody says that the base is away")
	}
	server.Restart(t)
	if b := eve.status(t, address); b.Unsent != 1 {
		t.Errorf("%+v", b)
	}
	eve.quiet(t, address) // who has seen that it is back does not leave it alone
	want(t, base(t, address, "r"), "eve's")
	ann.quiet(t, address) // it is still left alone
	ann.wait(later)
	ann.quiet(t, address)
	want(t, base(t, address, "r"), "off line", "later", "eve's")
	bob.wait(-later) // a clock that was put back proves nothing
	bob.quiet(t, address)
	want(t, base(t, address, "r"), "off line", "later", "bob's", "eve's")
}

// So is one that goes away in the middle, by a stop, a crash or a closed door.
func TestAwayInTheMiddle(t *testing.T) {
	server := pgtest.Start(t)
	address := server.Database(t)
	ann, bob := newClone(t), newClone(t)
	var all []string
	for i, stop := range []func(testing.TB){server.Stop, server.Crash} {
		before, off := fmt.Sprint("before ", i), fmt.Sprint("off line ", i)
		ann.quiet(t, address, text(before))
		stop(t)
		ann.wait(later)
		bob.wait(later)
		if note := ann.command(t, address, text(off)); note == "" {
			t.Error("nobody says that the base is away")
		}
		if note := bob.command(t, address, text("bob's "+off)); note == "" {
			t.Error("nobody says that the base is away")
		}
		server.Restart(t)
		all = append(all, before, off, "bob's "+off)
		for range 2 {
			for _, c := range []*clone{ann, bob} {
				c.wait(later)
				c.quiet(t, address)
			}
		}
		want(t, ann, all...)
		want(t, bob, all...)
		want(t, base(t, address, "r"), all...)
	}
}

// A base that accepts and never answers costs one command a bounded time, and the next ones
// nothing.
func TestStalls(t *testing.T) {
	proxy := pgtest.Through(t, pgtest.Database(t))
	ann := newClone(t)
	ann.step = time.Second
	proxy.Stall(true)
	began := time.Now()
	note := ann.command(t, proxy.Address(), text("meanwhile"))
	if !strings.Contains(note, "does not answer") {
		t.Errorf("it says: %s", note)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v, want a wait that ends", took)
	}
	taken := proxy.Taken()
	ann.wait(soon)
	for range 20 {
		ann.quiet(t, proxy.Address())
	}
	if proxy.Taken() != taken {
		t.Error("a base that stalls was tried again at once")
	}
	proxy.Stall(false)
	ann.wait(later)
	ann.quiet(t, proxy.Address())
	want(t, base(t, proxy.Address(), "r"), "meanwhile")
}

// Wherever the connection is cut, nothing is lost and nothing is there twice.
func TestCut(t *testing.T) {
	address := pgtest.Database(t)
	proxy := pgtest.Through(t, address)
	ann, bob := newClone(t), newClone(t)
	if err := base(t, address, "r").Absorb(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	var all []string
	cuts := 0
	for i, n := 0, 0; i < 25; i, n = i+1, n+137 {
		word := fmt.Sprint("word ", i)
		all = append(all, word)
		storetest.Commit(t, ann, "", store.FileChanges{Records: []fresh.Record{text(word)}, Put: []store.FileRow{storetest.Row("a", word)}})
		proxy.CutAfter(n)
		for _, c := range []*clone{ann, bob} {
			way := c.team(t, proxy.Address())
			if _, err := way.Sync(t.Context()); err != nil {
				cuts++
			}
			way.Close()
		}
		if got := has(t, base(t, address, "r")); len(got) != len(slices.Compact(slices.Clone(got))) {
			t.Fatalf("after a cut at %d the base has %q", n, got)
		}
	}
	if cuts < 5 {
		t.Errorf("only %d cuts hit anything", cuts)
	}
	proxy.CutAfter(-1)
	for _, c := range []*clone{ann, bob} {
		c.wait(later)
		c.quiet(t, proxy.Address())
		want(t, c, all...)
	}
	want(t, base(t, address, "r"), all...)
}

// A base that was made anew, or put back to an earlier day, gets everything again.
func TestBasePutBack(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	ann.quiet(t, address, text("one"), text("second"))
	ann.wait(soon)
	ann.quiet(t, address, text("last one"))
	pgtest.Exec(t, address, `DELETE FROM ken.record WHERE seq > 2; UPDATE ken.repository SET seq = 2`)
	bob := newClone(t)
	bob.quiet(t, address, text("by bob")) // it takes the number that "last one" had
	ann.wait(soon)
	ann.quiet(t, address)
	want(t, base(t, address, "r"), "one", "second", "last one", "by bob")
	want(t, ann, "one", "second", "last one", "by bob")

	pgtest.Exec(t, address, `DROP SCHEMA ken CASCADE`)
	ann.wait(soon)
	ann.quiet(t, address)
	want(t, base(t, address, "r"), "one", "second", "last one", "by bob")
}

// So does one that was put back to a moment between somebody's coming and going, while others
// wrote: what he had seen is there, and what he handed over is not.
func TestBasePutBackBetween(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("before"))
	ann.wait(soon)
	way := ann.team(t, address)
	defer way.Close()
	if note := way.Arrive(t.Context()); note != "" {
		t.Error(note)
	}
	bob.quiet(t, address, text("by bob"))
	storetest.Commit(t, ann, "", store.FileChanges{Records: []fresh.Record{text("by ann")}})
	if note := way.Leave(t.Context()); note != "" {
		t.Error(note)
	}
	pgtest.Exec(t, address, `DELETE FROM ken.record WHERE seq > 2; UPDATE ken.repository SET seq = 2`)
	want(t, base(t, address, "r"), "before", "by bob")
	ann.wait(soon)
	ann.quiet(t, address)
	want(t, base(t, address, "r"), "before", "by bob", "by ann")
	want(t, ann, "before", "by bob", "by ann")
}

// status says how a clone stands with the base.
func (c *clone) status(t *testing.T, address string) *store.TeamStatus {
	t.Helper()
	way := c.team(t, address)
	defer way.Close()
	b, err := way.Status(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// What the base has and the clone has not is no news to be silent about.
func TestUnpulled(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("one"))
	bob.quiet(t, address)
	if b := bob.status(t, address); !b.Current() || b.Records != 1 {
		t.Errorf("in step: %+v", b)
	}
	ann.wait(soon)
	storetest.Keep(t, ann.Store, storetest.Directory("d", "x", 1), storetest.Outlined("d", "x", 1), storetest.Outlined("d", "y", 2))
	ann.quiet(t, address, text("two"))
	if b := ann.status(t, address); !b.Current() {
		t.Errorf("who wrote it: %+v", b)
	}
	if b := bob.status(t, address); b.Current() || b.Unpulled != 3 || b.Unsent != 0 {
		t.Errorf("two texts and an outline behind: %+v", b)
	}
	bob.wait(soon)
	bob.quiet(t, address)
	if b := bob.status(t, address); !b.Current() {
		t.Errorf("in step again: %+v", b)
	}
}

// What is wrong with one record of the base costs nobody the others, and is told until the base
// is another one.
func TestBadRecords(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	storetest.Keep(t, ann.Store, storetest.Directory("odd", "odd", 1), storetest.Directory("changed", "changed", 2), storetest.Directory("good", "good", 3))
	ann.quiet(t, address, text("good"), text("lies"), text("turns \u202e round"))
	pgtest.Exec(t, address, `
		UPDATE ken.directory_record SET basis = '[1]' WHERE path = 'odd';
		UPDATE ken.directory_record SET partial = NOT partial WHERE path = 'changed';
		UPDATE ken.record SET author = 'somebody else' WHERE text = 'lies'`)
	bob := newClone(t)
	note := bob.command(t, address, text("by bob"))
	if !strings.Contains(note, "ignored 4 bad records") || strings.Count(note, "ken share status") != 1 {
		t.Errorf("it says: %s", note)
	}
	want(t, bob, "good", "about good", "by bob")
	bob.wait(soon)
	bob.quiet(t, address)
	b := bob.status(t, address)
	if b.Current() || b.Unpulled != 0 || b.Aside != 4 {
		t.Errorf("%+v", b)
	}
	var said []string
	for _, q := range b.Quarantined {
		said = append(said, q.Path+": "+q.Reason)
	}
	for _, reason := range []string{"changed: its content does not match its hash", "odd: basis of directory odd", "its content does not match", "U+202E"} {
		if !strings.Contains(strings.Join(said, "\n"), reason) {
			t.Errorf("it says %q, and not %q", said, reason)
		}
	}
}

// A clone that lost its store gets everything again.
func TestLocalLost(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	ann.quiet(t, address, text("one"))
	lost := newClone(t)
	lost.state = ann.state
	lost.now = ann.now.Add(soon)
	lost.quiet(t, address)
	want(t, lost, "one")
}

// A base that the user has not allowed is not contacted, not even on this machine, and the note
// says how to allow it.
func TestRefused(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed when the test ends
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	contacted := make(chan struct{})
	go func() {
		if _, err := listener.Accept(); err == nil {
			close(contacted)
		}
	}()
	ann := newClone(t)
	ann.refused = allow.Request{For: allow.Store, Address: "ADDRESS"}.Refuse("the address")
	address := "postgres://ken@" + listener.Addr().String() + "/ken?sslmode=disable"
	if note := ann.command(t, address, text("one")); note != "not contacted: ADDRESS, which only .ken/config.yaml names; to allow it: ken allow ADDRESS" {
		t.Errorf("it says: %s", note)
	}
	way := ann.team(t, address)
	for what, err := range map[string]error{"reach": way.Reach(t.Context()), "refused": way.Refused(), "sync": second(way.Sync(t.Context())), "status": second(way.Status(t.Context(), nil))} {
		if team.Trouble(err) != store.TroubleNotAllowed {
			t.Errorf("%s: want the error that it is not allowed, not %v", what, err)
		}
	}
	select {
	case <-contacted:
		t.Error("the base was contacted")
	default:
	}
}

func second[T any](_ T, err error) error { return err }

// An address names one host: the user would not see that another may be contacted.
func TestSeveralHosts(t *testing.T) {
	ann := newClone(t)
	for _, address := range []string{
		"postgres://ken@localhost:1,db..invalid:5432/ken", "postgres://ken@localhost:1,localhost:2/ken", "postgres:///ken?host=/tmp,db..invalid",
	} {
		_, err := team.Open(team.Options{Address: address, Local: ann.Store, StateDir: ann.state})
		if err == nil || !strings.Contains(err.Error(), "several hosts") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// The base is told how a work tree stands, and has its rows.
func TestRows(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	verify := func(head string, c store.FileChanges) {
		t.Helper()
		c.Baseline = &store.Verification{Head: storetest.ID(head), Clean: true, At: ann.now}
		storetest.Commit(t, ann, "", c)
	}
	var id string
	rows := func() string {
		t.Helper()
		s := base(t, address, "r")
		list, err := s.Machines(t.Context())
		if err != nil || len(list) != 1 {
			t.Fatalf("machines: %v, %v", list, err)
		}
		m := list[0]
		id = m.ID
		if !pgtest.One[bool](t, address, `SELECT clean FROM ken.machine`) {
			t.Error("the work tree is clean, and the base says otherwise")
		}
		looking, err := postgres.Open(address, postgres.Options{Repository: "r", Machine: m.ID})
		if err != nil {
			t.Fatal(err)
		}
		defer looking.Close()
		var out []string
		for _, r := range storetest.Rows(t, looking, m.Worktree) {
			if r.Stat != (repo.Stat{}) {
				t.Errorf("the base has the stat of %s: %+v", r.Path, r.Stat)
			}
			out = append(out, fmt.Sprint(string(r.Path), " ", r.Content == storetest.Content("2"), " ", r.About.Holds(r.Content)))
		}
		return fmt.Sprintf("%v %v of %d fresh %d stale %d none %d", m.Head, out, m.Files, m.Fresh, m.Stale, m.None)
	}
	verify("1", store.FileChanges{Put: []store.FileRow{storetest.Row("a", "1"), storetest.Row("b\xff", "1"), storetest.Row("gone", "1")}, Records: []fresh.Record{text("1")}})
	ann.quiet(t, address)
	if got, want := rows(), fmt.Sprintf("%v [a false true b\xff false true gone false true] of 3 fresh 3 stale 0 none 0", storetest.ID("1")); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	// The baseline is told at once, rows follow.
	verify("2", store.FileChanges{Put: []store.FileRow{storetest.Row("b\xff", "2")}, Delete: []repo.Path{"gone"}})
	ann.wait(soon)
	ann.quiet(t, address)
	if got, want := rows(), fmt.Sprintf("%v [a false true b\xff false true gone false true] of 2 fresh 1 stale 0 none 1", storetest.ID("2")); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	ann.wait(time.Minute)
	ann.quiet(t, address)
	if got, want := rows(), fmt.Sprintf("%v [a false true b\xff true false] of 2 fresh 1 stale 0 none 1", storetest.ID("2")); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	// Half of the memory of what was sent is lost, or the base has other rows by now: it is asked.
	spoil := func(change func([]byte) []byte) {
		t.Helper()
		files, err := filepath.Glob(ann.state + "/ken/team/*-rows-*")
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		b, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files[0], change(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i, change := range []func(){
		func() { spoil(func(b []byte) []byte { return b[:len(b)-5] }) },
		func() { spoil(func(b []byte) []byte { return append(b, 0xff) }) },
		func() {
			pgtest.Exec(t, address, `DELETE FROM ken.file WHERE path = 'a'; UPDATE ken.worktree SET generation = generation + 1`)
		},
	} {
		change()
		verify(fmt.Sprint("2", i), store.FileChanges{Put: []store.FileRow{storetest.Row("d", "2")}})
		ann.wait(later)
		ann.quiet(t, address)
		if got, want := rows(), fmt.Sprintf("%v [a false true b\xff true false d true false] of 3 fresh 1 stale 0 none 2", storetest.ID(fmt.Sprint("2", i))); got != want {
			t.Errorf("%s, want\n%s", got, want)
		}
		verify("2", store.FileChanges{Delete: []repo.Path{"d"}})
		ann.wait(later)
		ann.quiet(t, address)
	}
	// Without a memory of what was sent, the base is asked.
	if err := os.RemoveAll(ann.state + "/ken/team"); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(ann.state+"/ken/team", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(ann.state+"/ken/team/machine", []byte(id), 0o600); err != nil {
		t.Fatal(err)
	}
	verify("3", store.FileChanges{Put: []store.FileRow{storetest.Row("c", "2")}, Delete: []repo.Path{"a"}})
	ann.wait(later)
	ann.quiet(t, address)
	if got, want := rows(), fmt.Sprintf("%v [b\xff true false c true false] of 2 fresh 0 stale 0 none 2", storetest.ID("3")); got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
}

// What somebody else has handed over between one's coming and going is not passed over.
func TestBetween(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	way := ann.team(t, address)
	defer way.Close()
	if note := way.Arrive(t.Context()); note != "" {
		t.Error(note)
	}
	bob.quiet(t, address, text("by bob"))
	storetest.Commit(t, ann, "", store.FileChanges{Records: []fresh.Record{text("by ann")}})
	if note := way.Leave(t.Context()); note != "" {
		t.Error(note)
	}
	ann.wait(soon)
	ann.quiet(t, address)
	want(t, ann, "by ann", "by bob")
}

// Many processes of many clones, all at once: everybody has everything in the end, once.
func TestCrowd(t *testing.T) {
	address := pgtest.Database(t)
	var clones []*clone
	for range 4 {
		clones = append(clones, newClone(t))
	}
	var all []string
	var writing sync.WaitGroup
	for i, c := range clones {
		for j := range 6 {
			word := fmt.Sprint("word ", i, " ", j)
			all = append(all, word)
			writing.Go(func() { // a process has a store of its own
				mine := *c
				mine.Store = local.Open(local.Options{CommonDir: c.dir, StateDir: c.state})
				defer mine.Close()
				mine.quiet(t, address, text(word))
			})
		}
	}
	writing.Wait()
	for _, c := range clones {
		c.wait(soon)
		c.quiet(t, address)
		want(t, c, all...)
	}
	want(t, base(t, address, "r"), all...)
}

// Of an address that cannot be told from its password nothing is remembered; of others, no password.
func TestNoPasswordIsRemembered(t *testing.T) {
	for _, pw := range []string{"p@ssw0rdTail", "1234/Tail", "1234?Tail", "1234#Tail", "p%40ss%2FTail", "PlainTail"} {
		ann := newClone(t)
		way, err := team.Open(team.Options{
			Address: "postgres://ken:" + pw + "@127.0.0.1:1/ken", Local: ann.Store, StateDir: ann.state, CommonDir: ann.dir,
			Repository: func(context.Context) (string, error) { return "r", nil },
		})
		if err != nil {
			if strings.Contains(err.Error(), "Tail") {
				t.Errorf("%s: %v", pw, err)
			}
		} else {
			if note := way.Arrive(t.Context()); strings.Contains(note, "Tail") || note == "" {
				t.Errorf("%s: %q", pw, note)
			}
			if err := way.Close(); err != nil {
				t.Error(err)
			}
		}
		for _, dir := range []string{ann.state, ann.dir} {
			err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				b, err := os.ReadFile(name)
				if strings.Contains(string(b)+name, "Tail") {
					t.Errorf("%s: in %s", pw, name)
				}
				if info, err := d.Info(); dir == ann.state && (err != nil || info.Mode().Perm()&0o077 != 0) {
					t.Errorf("%s is for others to read: %v, %v", name, info.Mode(), err)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

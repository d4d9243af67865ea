package team_test

import (
	"context"
	"encoding/base64"
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

	"ken/internal/fresh"
	"ken/internal/permission"
	"ken/internal/pgtest"
	"ken/internal/store"
	"ken/internal/store/local"
	"ken/internal/store/postgres"
	"ken/internal/store/storetest"
	"ken/internal/store/team"
)

// A clone has its own store, its own user state and a clock that only the test advances.
type clone struct {
	*local.Store
	dir, state string
	now        time.Time
	slow       time.Duration // added to the clock on each read
	full       bool          // the disk is full
	repository string
	step       time.Duration // the time limit of a step; long, because test machines are busy
	refused    error         // the reason why ken must not contact the shared store
}

// AddRecords adds records. It fails if the disk is full.
func (c *clone) AddRecords(ctx context.Context, list []store.Record) error {
	if c.full {
		return errors.New("no space left on device")
	}
	return c.Store.AddRecords(ctx, list)
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

// wait advances the clock.
func (c *clone) wait(d time.Duration) { c.now = c.now.Add(d) }

// command imitates a run of ken that writes some records. It returns the notes for the user.
func (c *clone) command(t *testing.T, address string, write ...fresh.Record) string {
	t.Helper()
	tm := c.team(t, address)
	note := tm.Pull(t.Context())
	if len(write) > 0 {
		storetest.Commit(t, c, "", store.FileChanges{Records: write})
	}
	note += tm.Push(t.Context())
	if err := tm.Close(); err != nil {
		t.Error(err)
	}
	return note
}

// quiet runs a command and fails the test if there is a note.
func (c *clone) quiet(t *testing.T, address string, write ...fresh.Record) {
	t.Helper()
	if note := c.command(t, address, write...); note != "" {
		t.Errorf("the command printed the note %q; want none", note)
	}
}

func (c *clone) team(t *testing.T, address string) *team.Team {
	t.Helper()
	tm, err := team.Open(team.Options{
		Address: address, Refused: c.refused, Local: c, StateDir: c.state, CommonDir: c.dir,
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
	return tm
}

// texts returns the texts of all records of a store, sorted, with duplicates.
func texts(t *testing.T, s store.Records) []string {
	t.Helper()
	list, _ := storetest.Since(t, s, "", 100)
	var all []string
	for _, r := range list {
		if r.File != nil {
			all = append(all, r.File.Text)
		} else {
			all = append(all, r.Directory.Text)
		}
	}
	slices.Sort(all)
	return all
}

// wantTexts fails the test unless the records of a store have the given texts.
func wantTexts(t *testing.T, s store.Records, want ...string) {
	t.Helper()
	slices.Sort(want)
	if got := texts(t, s); !slices.Equal(got, want) {
		t.Errorf("the store has %q, want %q", got, want)
	}
}

// openShared opens the shared store of a repository as another machine.
func openShared(t *testing.T, address, repository string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(address, postgres.Options{Repository: repository})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func text(s string) fresh.Record { return storetest.Record(s, s, len(s)) }

const (
	soon  = 6 * time.Second // longer than the interval between visits
	later = time.Hour       // longer than the wait after any number of failures
)

// The next command of another machine pulls the records of the first.
func TestTwoMachines(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("by ann"))
	storetest.SaveDirRecords(t, ann.Store, storetest.Directory("d", "d", 1))
	ann.wait(soon)
	ann.quiet(t, address)
	bob.quiet(t, address, text("by bob"))
	wantTexts(t, bob, "by ann", "about d", "by bob")
	ann.wait(soon)
	ann.quiet(t, address)
	wantTexts(t, ann, "by ann", "about d", "by bob")
	wantTexts(t, openShared(t, address, "r"), "by ann", "about d", "by bob")
}

// A clone neither pulls its own records nor pushes records that it pulled.
func TestRecordsTransferOnce(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	for i := range 3 {
		ann.quiet(t, address, text(fmt.Sprint("ann ", i)))
		ann.wait(soon)
	}
	moved := func(c *clone) team.Exchanged {
		tm := c.team(t, address)
		defer tm.Close()
		m, err := tm.Sync(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	for _, c := range []struct {
		clone *clone
		want  team.Exchanged
	}{{ann, team.Exchanged{}}, {bob, team.Exchanged{Pulled: 3}}, {bob, team.Exchanged{}}, {ann, team.Exchanged{}}} {
		if got := moved(c.clone); got != c.want {
			t.Errorf("moved %+v, want %+v", got, c.want)
		}
	}
}

// A step of a push has a limit in bytes, so that it ends in time on a slow line.
func TestPushStepBytes(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	const n, long = 12, 100 << 10
	var list []fresh.Record
	for i := range n {
		list = append(list, storetest.Record(strings.Repeat(fmt.Sprint(i%10), long), fmt.Sprint(i), i))
	}
	ann.quiet(t, address, list...)
	if got := len(texts(t, openShared(t, address, "r"))); got != n {
		t.Errorf("%d records, want %d", got, n)
	}
	most := pgtest.Value[int](t, address, `SELECT max(bytes) FROM (SELECT sum(length(text)) AS bytes FROM ken.record GROUP BY xmin::text) step`)
	if most > 256<<10 || most < long {
		t.Errorf("a step has %d bytes, want %d to %d", most, long, 256<<10)
	}
}

// Repositories on one server do not see each other's records.
func TestRepositoriesAreSeparate(t *testing.T) {
	address := pgtest.Database(t)
	ann, eve := newClone(t), newClone(t)
	eve.repository = "another"
	ann.quiet(t, address, text("secret"))
	eve.quiet(t, address, text("other"))
	eve.wait(soon)
	eve.quiet(t, address)
	wantTexts(t, eve, "other")
	wantTexts(t, openShared(t, address, "another"), "other")
}

// A clone that switches to another repository name and back keeps its marks: records that both stores have are
// neither unsent nor unpulled.
func TestSwitchRepositoryAndBack(t *testing.T) {
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
		t.Errorf("after switching back: %d unsent, %d unpulled, want 2 and 0", b.Unsent, b.Unpulled)
	}
	ann.quiet(t, address)
	if b := ann.status(t, address); !b.Current() || b.Records != 3 {
		t.Errorf("want a current status: %+v", b)
	}
	wantTexts(t, openShared(t, address, "x"), "first", "more 0")
	wantTexts(t, openShared(t, address, "r"), "first", "more 0", "more 1")
	// A repository that lost its records gets all of them again.
	ann.repository = "x"
	pgtest.Exec(t, address, `DELETE FROM ken.record WHERE repository = (SELECT id FROM ken.repository WHERE name = 'x')`)
	ann.wait(later)
	ann.quiet(t, address)
	wantTexts(t, openShared(t, address, "x"), "first", "more 0", "more 1")
}

// Records that the local store cannot write are pulled again once the disk has room.
func TestLocalDiskFull(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("by ann"))
	bob.full = true
	if note := bob.command(t, address); note == "" {
		t.Error("no note about the full disk")
	}
	bob.full = false
	bob.wait(later)
	bob.quiet(t, address)
	wantTexts(t, bob, "by ann")
}

// The next command continues a visit that reached its time limit, even if it runs at once.
func TestVisitTimeLimit(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("by ann"))
	bob.slow = 15 * time.Second
	if note := bob.command(t, address); note == "" {
		t.Error("no note that the next command continues")
	}
	wantTexts(t, bob)
	bob.slow = 0
	bob.quiet(t, address)
	wantTexts(t, bob, "by ann")
}

// A cancelled visit returns no note and is no failure.
func TestCancelledVisit(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tm := ann.team(t, address)
	defer tm.Close()
	if note := tm.Pull(ctx); note != "" {
		t.Errorf("Pull with a cancelled context returned the note %q; want none", note)
	}
	ann.quiet(t, address, text("by ann"))
	wantTexts(t, openShared(t, address, "r"), "by ann")
}

// A clock that was set back does not prevent a visit.
func TestClockSetBack(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	bob.quiet(t, address)
	ann.quiet(t, address, text("by ann"))
	bob.wait(-later)
	bob.quiet(t, address)
	wantTexts(t, bob, "by ann")
}

// A server that is down from the start causes one note and a wait. Later commands push everything.
func TestServerDownAtStart(t *testing.T) {
	server := pgtest.Start(t)
	address := server.Database(t)
	server.Stop(t)
	ann := newClone(t)
	note := ann.command(t, address, text("off line"))
	if !strings.Contains(note, "no server listens there") || strings.Count(note, "nothing is lost") != 1 {
		t.Errorf("the note is %q; want that no server listens and nothing is lost", note)
	}
	ann.quiet(t, address, text("later"))
	wantTexts(t, ann, "off line", "later")
	bob := newClone(t)
	if note := bob.command(t, address, text("bob's")); note == "" {
		t.Error("no note that the server is down")
	}
	eve := newClone(t)
	if note := eve.command(t, address, text("eve's")); note == "" {
		t.Error("no note that the server is down")
	}
	server.Restart(t)
	if b := eve.status(t, address); b.Unsent != 1 {
		t.Errorf("the status is %+v; want 1 unsent record", b)
	}
	eve.quiet(t, address) // status reached the server, which ends the wait
	wantTexts(t, openShared(t, address, "r"), "eve's")
	ann.quiet(t, address) // the wait of this clone is not over
	ann.wait(later)
	ann.quiet(t, address)
	wantTexts(t, openShared(t, address, "r"), "off line", "later", "eve's")
	bob.wait(-later) // a clock that was set back ends the wait
	bob.quiet(t, address)
	wantTexts(t, openShared(t, address, "r"), "off line", "later", "bob's", "eve's")
}

// A server that stops or crashes between two visits does not lose records.
func TestServerStopsOrCrashes(t *testing.T) {
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
			t.Error("no note that the server is down")
		}
		if note := bob.command(t, address, text("bob's "+off)); note == "" {
			t.Error("no note that the server is down")
		}
		server.Restart(t)
		all = append(all, before, off, "bob's "+off)
		for range 2 {
			for _, c := range []*clone{ann, bob} {
				c.wait(later)
				c.quiet(t, address)
			}
		}
		wantTexts(t, ann, all...)
		wantTexts(t, bob, all...)
		wantTexts(t, openShared(t, address, "r"), all...)
	}
}

// A server that accepts connections and never answers delays one command for a limited time, and the next
// commands not at all.
func TestServerStalls(t *testing.T) {
	proxy := pgtest.NewProxy(t, pgtest.Database(t))
	ann := newClone(t)
	ann.step = time.Second
	proxy.Stall(true)
	began := time.Now()
	note := ann.command(t, proxy.Address(), text("meanwhile"))
	if !strings.Contains(note, "does not answer") {
		t.Errorf("the note is %q; want that the server does not answer", note)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("the command took %v, want at most a minute", took)
	}
	taken := proxy.Taken()
	ann.wait(soon)
	for range 20 {
		ann.quiet(t, proxy.Address())
	}
	if proxy.Taken() != taken {
		t.Error("a command contacted the stalled server again without waiting")
	}
	proxy.Stall(false)
	ann.wait(later)
	ann.quiet(t, proxy.Address())
	wantTexts(t, openShared(t, proxy.Address(), "r"), "meanwhile")
}

// A connection that is cut at any byte neither loses nor duplicates records.
func TestConnectionCut(t *testing.T) {
	address := pgtest.Database(t)
	proxy := pgtest.NewProxy(t, address)
	ann, bob := newClone(t), newClone(t)
	if err := openShared(t, address, "r").AddRecords(t.Context(), nil); err != nil {
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
			tm := c.team(t, proxy.Address())
			if _, err := tm.Sync(t.Context()); err != nil {
				cuts++
			}
			tm.Close()
		}
		if got := texts(t, openShared(t, address, "r")); len(got) != len(slices.Compact(slices.Clone(got))) {
			t.Fatalf("duplicates in the shared store after a cut at byte %d: %q", n, got)
		}
	}
	if cuts < 5 {
		t.Errorf("only %d cuts made Sync fail, want 5", cuts)
	}
	proxy.CutAfter(-1)
	for _, c := range []*clone{ann, bob} {
		c.wait(later)
		c.quiet(t, proxy.Address())
		wantTexts(t, c, all...)
	}
	wantTexts(t, openShared(t, address, "r"), all...)
}

// A clone sends all records again to a shared store that was restored from a backup or created again.
func TestSharedStoreRestored(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	ann.quiet(t, address, text("one"), text("second"))
	ann.wait(soon)
	ann.quiet(t, address, text("last one"))
	pgtest.Exec(t, address, `DELETE FROM ken.record WHERE seq > 2; SELECT setval('ken.record_seq', 2)`)
	bob := newClone(t)
	bob.quiet(t, address, text("by bob")) // gets the number that "last one" had
	ann.wait(soon)
	ann.quiet(t, address)
	wantTexts(t, openShared(t, address, "r"), "one", "second", "last one", "by bob")
	wantTexts(t, ann, "one", "second", "last one", "by bob")

	pgtest.Exec(t, address, `DROP SCHEMA ken CASCADE`)
	ann.wait(soon)
	ann.quiet(t, address)
	wantTexts(t, openShared(t, address, "r"), "one", "second", "last one", "by bob")
}

// The backup may be from a time between the pull and the push of a command, while others wrote: the shared store
// then has the records that the clone pulled, but not those that it pushed.
func TestSharedStoreRestoredBetweenPullAndPush(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("before"))
	ann.wait(soon)
	tm := ann.team(t, address)
	defer tm.Close()
	if note := tm.Pull(t.Context()); note != "" {
		t.Errorf("Pull returned the note %q; want none", note)
	}
	bob.quiet(t, address, text("by bob"))
	storetest.Commit(t, ann, "", store.FileChanges{Records: []fresh.Record{text("by ann")}})
	if note := tm.Push(t.Context()); note != "" {
		t.Errorf("Push returned the note %q; want none", note)
	}
	pgtest.Exec(t, address, `DELETE FROM ken.record WHERE seq > 2; SELECT setval('ken.record_seq', 2)`)
	wantTexts(t, openShared(t, address, "r"), "before", "by bob")
	ann.wait(soon)
	ann.quiet(t, address)
	wantTexts(t, openShared(t, address, "r"), "before", "by bob", "by ann")
	wantTexts(t, ann, "before", "by bob", "by ann")
}

// status returns the status of a clone.
func (c *clone) status(t *testing.T, address string) *store.TeamStatus {
	t.Helper()
	tm := c.team(t, address)
	defer tm.Close()
	b, err := tm.Status(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The status counts the records that the clone has not pulled.
func TestStatusCountsUnpulled(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.quiet(t, address, text("one"))
	bob.quiet(t, address)
	if b := bob.status(t, address); !b.Current() || b.Records != 1 {
		t.Errorf("want a current status: %+v", b)
	}
	ann.wait(soon)
	storetest.SaveDirRecords(t, ann.Store, storetest.Directory("d", "x", 1), storetest.Outlined("d", "x", 1), storetest.Outlined("d", "y", 2))
	ann.quiet(t, address, text("two"))
	if b := ann.status(t, address); !b.Current() {
		t.Errorf("status of the clone that wrote the records: %+v", b)
	}
	if b := bob.status(t, address); b.Current() || b.Unpulled != 3 || b.Unsent != 0 {
		t.Errorf("want 3 unpulled records (two texts and an outline): %+v", b)
	}
	bob.wait(soon)
	bob.quiet(t, address)
	if b := bob.status(t, address); !b.Current() {
		t.Errorf("want a current status after the pull: %+v", b)
	}
}

// A clone skips bad records, pulls the others, and lists the bad ones in its status.
func TestBadRecords(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	storetest.SaveDirRecords(t, ann.Store, storetest.Directory("odd", "odd", 1), storetest.Directory("changed", "changed", 2), storetest.Directory("good", "good", 3))
	ann.quiet(t, address, text("good"), text("lies"), text("turns \u202e round"))
	pgtest.Exec(t, address, `
		UPDATE ken.record SET basis = '[1]' WHERE path = 'odd';
		UPDATE ken.record SET partial = NOT partial WHERE path = 'changed';
		UPDATE ken.record SET author = 'somebody else' WHERE text = 'lies'`)
	bob := newClone(t)
	note := bob.command(t, address, text("by bob"))
	if !strings.Contains(note, "ignored 4 bad records") || strings.Count(note, "ken share status") != 1 {
		t.Errorf("the note is %q; want 4 ignored records and one hint", note)
	}
	wantTexts(t, bob, "good", "about good", "by bob")
	bob.wait(soon)
	bob.quiet(t, address)
	b := bob.status(t, address)
	if b.Current() || b.Unpulled != 0 || b.Bad != 4 {
		t.Errorf("the status is %+v; want 4 bad records and none to pull", b)
	}
	var reasons []string
	for _, q := range b.Quarantined {
		reasons = append(reasons, q.Path+": "+q.Reason)
	}
	for _, reason := range []string{"changed: its content does not match its hash", "odd: basis of directory odd", "its content does not match", "U+202E"} {
		if !strings.Contains(strings.Join(reasons, "\n"), reason) {
			t.Errorf("the reasons %q lack %q", reasons, reason)
		}
	}
}

// A clone pulls a record from the future when its time has come. Other bad records stay counted once.
func TestRecordDue(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	ann.wait(30 * time.Hour) // her clock is ahead
	ahead := text("ahead")
	ahead.At = ann.now
	ann.quiet(t, address, text("lies"), ahead, text("good"))
	pgtest.Exec(t, address, `UPDATE ken.record SET author = 'somebody else' WHERE text = 'lies'`)
	if note := bob.command(t, address); !strings.Contains(note, "ignored 2 bad records") {
		t.Errorf("the note is %q; want 2 ignored records", note)
	}
	bob.wait(soon)
	bob.quiet(t, address)
	wantTexts(t, bob, "good")
	bob.wait(6 * time.Hour)
	bob.command(t, address)
	wantTexts(t, bob, "good", "ahead")
	if b := bob.status(t, address); b.Bad != 1 || len(b.Quarantined) != 1 || b.Unpulled != 0 {
		t.Errorf("the status is %+v; want one bad record, and none to pull", b)
	}
}

// A clone that lost its local store pulls all records again.
func TestLocalStoreLost(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	ann.quiet(t, address, text("one"))
	lost := newClone(t)
	lost.state = ann.state
	lost.now = ann.now.Add(soon)
	lost.quiet(t, address)
	wantTexts(t, lost, "one")
}

// ken does not contact a server that the user has not allowed, not even on this machine. The note says how to
// allow it.
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
	ann.refused = permission.Request{For: permission.Store, Address: "ADDRESS"}.Refuse("the address")
	address := "postgres://ken@" + listener.Addr().String() + "/ken?sslmode=disable"
	if note := ann.command(t, address, text("one")); note != "not contacted: ADDRESS, which only .ken/config.yaml names; to allow it: ken allow ADDRESS" {
		t.Errorf("the note is %q; want that the address is not allowed, and how to allow it", note)
	}
	tm := ann.team(t, address)
	for what, err := range map[string]error{"reach": tm.CheckAccess(t.Context()), "refused": tm.Refused(), "sync": second(tm.Sync(t.Context())), "status": second(tm.Status(t.Context(), nil))} {
		if team.Trouble(err) != store.TroubleNotAllowed {
			t.Errorf("%s: error %v, want TroubleNotAllowed", what, err)
		}
	}
	select {
	case <-contacted:
		t.Error("ken contacted the server")
	default:
	}
}

func second[T any](_ T, err error) error { return err }

// An address with several hosts is an error, because the user would allow only the first.
func TestSeveralHosts(t *testing.T) {
	ann := newClone(t)
	for _, address := range []string{
		"postgres://ken@localhost:1,db..invalid:5432/ken", "postgres://ken@localhost:1,localhost:2/ken", "postgres:///ken?host=/tmp,db..invalid",
	} {
		_, err := team.Open(team.Options{Address: address, Local: ann.Store, StateDir: ann.state})
		if err == nil || !strings.Contains(err.Error(), "several hosts") {
			t.Errorf("Open(%q) returned the error %v; want one about several hosts", address, err)
		}
	}
}

// The shared store gets records and nothing else: no path of a file without a summary, and no state of the work tree.
func TestSendsRecordsOnly(t *testing.T) {
	address := pgtest.Database(t)
	ann := newClone(t)
	verification := &store.Verification{Head: storetest.ID("head"), Clean: true, At: ann.now}
	storetest.Commit(t, ann, "", store.FileChanges{
		Put:          []store.FileRow{storetest.Row("private/plan.go", "x"), storetest.Row("a.go", "1")},
		Verification: verification,
	})
	ann.quiet(t, address, text("1"))
	tm := ann.team(t, address)
	defer tm.Close()
	if _, err := tm.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	wantTexts(t, openShared(t, address, "r"), "1")
	const everything = `SELECT query_to_xml('SELECT * FROM ' || c.oid::regclass, true, false, '')::text
		FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'ken' AND c.relkind IN ('r', 'v')`
	all := strings.Join(pgtest.Column[string](t, address, everything), "\n")
	if !strings.Contains(all, "a.go") {
		t.Errorf("the tables have no path of a record:\n%s", all)
	}
	const path = "private/plan.go"
	if strings.Contains(all, path) || strings.Contains(all, base64.StdEncoding.EncodeToString([]byte(path))) {
		t.Errorf("the tables have %q:\n%s", path, all)
	}
	if _, err := os.Stat(filepath.Join(ann.state, "ken", "team", "machine")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the state directory has a name of the machine: %v", err)
	}
}

// Records that another clone pushes between the pull and the push of a command are pulled later.
func TestPushFromOtherCloneDuringCommand(t *testing.T) {
	address := pgtest.Database(t)
	ann, bob := newClone(t), newClone(t)
	tm := ann.team(t, address)
	defer tm.Close()
	if note := tm.Pull(t.Context()); note != "" {
		t.Errorf("Pull returned the note %q; want none", note)
	}
	bob.quiet(t, address, text("by bob"))
	storetest.Commit(t, ann, "", store.FileChanges{Records: []fresh.Record{text("by ann")}})
	if note := tm.Push(t.Context()); note != "" {
		t.Errorf("Push returned the note %q; want none", note)
	}
	ann.wait(soon)
	ann.quiet(t, address)
	wantTexts(t, ann, "by ann", "by bob")
}

// After many concurrent processes of several clones, every clone has every record once.
func TestConcurrentClones(t *testing.T) {
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
			writing.Go(func() { // each process has its own store
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
		wantTexts(t, c, all...)
	}
	wantTexts(t, openShared(t, address, "r"), all...)
}

// No state file contains a password, whether or not the address is valid.
func TestStateFilesHaveNoPassword(t *testing.T) {
	for _, pw := range []string{"p@ssw0rdTail", "1234/Tail", "1234?Tail", "1234#Tail", "p%40ss%2FTail", "PlainTail"} {
		ann := newClone(t)
		tm, err := team.Open(team.Options{
			Address: "postgres://ken:" + pw + "@127.0.0.1:1/ken", Local: ann.Store, StateDir: ann.state, CommonDir: ann.dir,
			Repository: func(context.Context) (string, error) { return "r", nil },
		})
		if err != nil {
			if strings.Contains(err.Error(), "Tail") {
				t.Errorf("the error for the password %s reveals part of it: %v", pw, err)
			}
		} else {
			if note := tm.Pull(t.Context()); strings.Contains(note, "Tail") || note == "" {
				t.Errorf("the note for the password %s is %q; want one without the password", pw, note)
			}
			if err := tm.Close(); err != nil {
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
					t.Errorf("password %s is in %s", pw, name)
				}
				if info, err := d.Info(); dir == ann.state && (err != nil || info.Mode().Perm()&0o077 != 0) {
					t.Errorf("others can read %s: %v, %v", name, info.Mode(), err)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		}
	}
}

package sqlite_test

import (
	"errors"
	"fmt"
	"reflect"
	"testing"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
	"ken/internal/store/sqlite"
	"ken/internal/store/storetest"
)

// knowsDirectory verifies that the record of a text is the latest at a directory.
func knowsDirectory(t *testing.T, s store.Directories, path repo.Path, text string) {
	t.Helper()
	m, err := s.Latest(t.Context())
	if err != nil || len(m[path]) != 1 || m[path][0].Text != "about "+text {
		t.Errorf("the latest records of %s are %v, %v; want one about %s", path, m[path], err, text)
	}
}

// One of several concurrent takes succeeds.
func TestAcquireFromManyConnections(t *testing.T) {
	path := dbPath(t)
	var stores []store.Leases
	for range 4 {
		stores = append(stores, open(t, path))
	}
	for round := range 5 {
		if taken := storetest.TakeAtOnce(t, "a", 10*round, stores...); len(taken) != 1 {
			t.Fatalf("round %d: %d takes succeeded, want 1", round, len(taken))
		}
	}
}

// Import and Drain add each record once, even if repeated, and do not replace newer data.
func TestTransfer(t *testing.T) {
	ctx := t.Context()
	spool, main := openWith(t, dbPath(t), sqlite.Options{Spool: true}), open(t, dbPath(t))
	if _, err := spool.Latest(ctx); !errors.Is(err, sqlite.ErrDrained) {
		t.Errorf("a spool without an import: %v", err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	takes := func(s store.Leases, l store.Lease) {
		t.Helper()
		if ok, err := s.Acquire(ctx, "", l, storetest.Epoch); !ok || err != nil {
			t.Fatalf("Take returned %t, %v; want true", ok, err)
		}
	}
	storetest.SaveDirRecords(t, main, storetest.Directory("a", "one", 1))
	takes(main, storetest.Lease("later in main", "main", 20))
	takes(main, storetest.Lease("settled", "main", 20))
	must(main.SaveFailure(ctx, store.DirFailure{Path: "main failed", Reason: "r", At: storetest.Epoch}))

	must(spool.Import(ctx, main, "stamp"))
	knowsDirectory(t, spool, "a", "one")
	if f, err := spool.Failures(ctx); err != nil || len(f) != 1 {
		t.Errorf("failures of the spool: %v, %v", f, err)
	}
	// A lease of the main store can be settled in the spool.
	if ok, err := spool.Complete(ctx, "", storetest.Lease("settled", "main", 20), storetest.Directory("settled", "two", 2)); !ok || err != nil {
		t.Fatalf("Settle in the spool returned %t, %v; want true", ok, err)
	}
	storetest.SaveDirRecords(t, spool, storetest.Directory("a", "three", 3), storetest.Outlined("b\xff", "four", 4))
	must(spool.SaveFailure(ctx, store.DirFailure{Path: "spool failed", Reason: "r", At: storetest.Epoch}))
	must(spool.SaveFailure(ctx, store.DirFailure{Path: "c", Reason: "superseded in main", At: storetest.Epoch}))
	takes(spool, storetest.Lease("taken", "spool", 30))
	storetest.SaveDirRecords(t, main, storetest.Directory("a", "five", 5), storetest.Directory("c", "six", 6))

	for range 2 {
		undone := errors.New("undone")
		if err := spool.Drain(ctx, func(k *sqlite.Bundle) error { must(main.AddBundle(ctx, k)); return undone }); !errors.Is(err, undone) {
			t.Fatalf("Drain returned the error %v; want that of the callback", err)
		}
	}
	must(spool.Drain(ctx, func(k *sqlite.Bundle) error { return main.AddBundle(ctx, k) }))
	if _, err := spool.Latest(ctx); !errors.Is(err, sqlite.ErrDrained) {
		t.Errorf("after draining: %v", err)
	}
	if got := shell(t, spool.Path(), "SELECT (SELECT count(*) FROM directory_record) + (SELECT count(*) FROM directory_latest) "+
		"+ (SELECT count(*) FROM directory_failure) + (SELECT count(*) FROM lease)"); got != "0" {
		t.Errorf("%s rows are left in the spool", got)
	}

	knowsDirectory(t, main, "a", "five")
	knowsDirectory(t, main, "settled", "two")
	knowsDirectory(t, main, "b\xff", "four")
	knowsDirectory(t, main, "c", "six")
	if got := shell(t, main.Path(), "SELECT count(*) FROM directory_record"); got != "6" {
		t.Errorf("the table has %s records; want 6", got)
	}
	failed, err := main.Failures(ctx)
	if err != nil || len(failed) != 2 || failed["spool failed"].Reason == "" {
		t.Errorf("Failures returned %v, %v; want 2, with the reason from the spool", failed, err)
	}
	held, err := main.Leases(ctx, "")
	if err != nil || held["taken"].Token != "spool" || held["later in main"].Token != "main" {
		t.Errorf("Leases returned %v, %v; want the later lease of each directory", held, err)
	}
}

// A record with a damaged basis is not used, and Unused lists it.
func TestDamagedBasis(t *testing.T) {
	path := dbPath(t)
	s := open(t, path)
	storetest.SaveDirRecords(t, s, storetest.Directory("dir/a", "x", 0))
	for _, basis := range []string{"X''", "X'63'", "X'01ff'", "X'010001'", "X'0100000000'", "substr(basis, 1, length(basis) - 1)"} {
		shell(t, path, "UPDATE directory_record SET basis = "+basis)
		latest, err := s.Latest(t.Context())
		if err != nil || len(latest) != 0 {
			t.Errorf("%s: the latest are %v, %v; want none", basis, latest, err)
		}
		if list := s.Unused(); len(list) != 1 || list[0].Label() != "dir/a" || list[0].Why != fresh.ErrDamaged { //nolint:errorlint // it is that one
			t.Errorf("%s: unused records %v, want dir/a", basis, list)
		}
	}
	// Saving the same record again repairs it.
	storetest.SaveDirRecords(t, s, storetest.Directory("dir/a", "x", 0))
	knowsDirectory(t, s, "dir/a", "x")
	if list := s.Unused(); len(list) != 0 {
		t.Errorf("unused after the repair: %v", list)
	}
}

// The encoding of a basis contains every field.
func TestBasisHasAllFields(t *testing.T) {
	n := byte(0)
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		n++
		switch v.Type() {
		case reflect.TypeFor[[]byte]():
			v.SetBytes([]byte{n})
			return
		case reflect.TypeFor[repo.ID]():
			v.Set(reflect.ValueOf(storetest.ID(fmt.Sprint(n))))
			return
		case reflect.TypeFor[fresh.Digest]():
			v.Set(reflect.ValueOf(fresh.Digest{n}))
			return
		}
		switch v.Kind() {
		case reflect.String:
			v.SetString(fmt.Sprint("language ", n))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), 2, 2))
			for i := range v.Len() {
				fill(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		default:
			t.Fatalf("appendBasis and this test do not know the type %v", v.Type())
		}
	}
	var want store.DirBasis
	fill(reflect.ValueOf(&want).Elem())
	got, err := sqlite.ReadBasis(sqlite.AppendBasis(nil, want))
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("ReadBasis returned %+v, %v; want %+v", got, err, want)
	}
}

// A decoded basis stays the same after encoding it again. No input makes the decoder allocate too much memory.
func FuzzBasis(f *testing.F) {
	f.Add([]byte{})
	f.Add(sqlite.AppendBasis(nil, store.DirBasis{}))
	f.Add(sqlite.AppendBasis(nil, storetest.SurveyBasis("x")))
	f.Add([]byte("\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, in []byte) {
		b, err := sqlite.ReadBasis(in)
		if err != nil {
			return
		}
		again, err := sqlite.ReadBasis(sqlite.AppendBasis(nil, b))
		if err != nil || !reflect.DeepEqual(again, b) {
			t.Errorf("%x reads as %+v, and back as %+v (%v)", in, b, again, err)
		}
	})
}

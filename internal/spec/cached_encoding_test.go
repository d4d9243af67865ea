package spec

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ken/internal/repo"
)

// fill sets every field to a random value, including nil pointers and empty slices. A pointer to a string points to
// one that is not empty.
func fill(v reflect.Value, rnd *rand.Rand, depth int) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 0)
	case reflect.Int:
		v.SetInt(rnd.Int64() >> rnd.IntN(64))
	case reflect.String:
		v.SetString([]string{"", "a", "\x00\n\xff", "läng\u00e9r than that"}[rnd.IntN(4)])
	case reflect.Pointer:
		if rnd.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			fill(v.Elem(), rnd, depth)
			if v.Elem().Kind() == reflect.String && v.Elem().String() == "" {
				v.Elem().SetString("b")
			}
		}
	case reflect.Slice:
		n := rnd.IntN(3)
		if depth >= 6 {
			n = 0
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			fill(v.Index(i), rnd, depth+1)
		}
	case reflect.Uint8:
		v.SetUint(uint64(rnd.IntN(256)))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for _, k := range []string{"", "x", "y"}[:rnd.IntN(4)] {
			e := reflect.New(v.Type().Elem()).Elem()
			fill(e, rnd, depth+1)
			v.SetMapIndex(reflect.ValueOf(k), e)
		}
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[repo.ID]() {
			v.Set(reflect.ValueOf(repo.SHA1.Blob([]byte{byte(rnd.IntN(256))})))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), rnd, depth)
		}
	default:
		panic(v.Type().String())
	}
}

// allCached has a field of each type that is cached without a listing.
type allCached struct {
	Head   cachedListing
	Inputs listingInputs
	Nodes  cachedNodes
	Index  storedIndexFacts
}

// TestCachedEncoding checks that every field survives encoding and decoding, and that decodeCached reports
// truncated text and does not panic on damaged text.
func TestCachedEncoding(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	sameID := cmp.Comparer(func(a, b repo.ID) bool { return a == b })
	for range 300 {
		var want, got allCached
		fill(reflect.ValueOf(&want).Elem(), rnd, 0)
		text := encodeCached(want)
		if err := decodeCached(text, &got); err != nil {
			t.Fatal("decodeCached:", err)
		}
		if d := cmp.Diff(want, got, sameID, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("the decoded value differs (-want +got):\n%s", d)
		}
		for range 20 {
			bad := text[:rnd.IntN(len(text))]
			if decodeCached(bad, new(allCached)) == nil {
				t.Fatal("decodeCached accepted truncated text")
			}
			bad = bytes.Clone(text)
			bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
			_ = decodeCached(bad, new(allCached)) // must not panic
		}
	}
}

// TestListingEncoding checks that every field of a listing survives encoding and decoding. A pointer to a zero value
// and an empty slice do not become nil.
func TestListingEncoding(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	sameID := cmp.Comparer(func(a, b repo.ID) bool { return a == b })
	for range 300 {
		var want Listing
		fill(reflect.ValueOf(&want).Elem(), rnd, 0)
		for i := range want.Nodes {
			if n := &want.Nodes[i]; rnd.IntN(2) == 0 {
				n.Session, n.LastEdited = new(""), new("")
			}
		}
		text := encodeListing(&want)
		if d := cmp.Diff(&want, decodeListing(text), sameID); d != "" {
			t.Fatal(d)
		}
		if decodeListing(text[:rnd.IntN(len(text))]) != nil {
			t.Fatal("decodeListing accepted truncated text")
		}
	}
}

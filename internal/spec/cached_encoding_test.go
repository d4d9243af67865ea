package spec

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/repo"
)

// fill sets every field to a random value, including nil and empty ones.
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
		}
	case reflect.Slice:
		if n := rnd.IntN(4); n < 3 && depth < 6 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := range n {
				fill(v.Index(i), rnd, depth+1)
			}
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
		if v.Type() == idType {
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

// allCached has a field of each cached type.
type allCached struct {
	Head    cachedListing
	Listing Listing
	Inputs  listingInputs
	Nodes   cachedNodes
}

// TestCachedEncoding checks that every field survives encoding and decoding, and that decodeCached reports
// truncated text and does not panic on damaged text.
func TestCachedEncoding(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var want allCached
		fill(reflect.ValueOf(&want).Elem(), rnd, 0)
		text := string(encodeCached(nil, want))
		var got allCached
		rest, err := decodeCached(text, &got)
		if err != nil || rest != "" {
			t.Fatalf("decodeCached: %v, %d bytes left", err, len(rest))
		}
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b repo.ID) bool { return a == b })); d != "" {
			t.Fatalf("the decoded value differs (-want +got):\n%s", d)
		}
		for range 20 {
			bad := []byte(text[:rnd.IntN(len(text))])
			if _, err := decodeCached(string(bad), new(allCached)); err == nil {
				t.Fatal("decodeCached accepted truncated text")
			}
			bad = []byte(text)
			bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
			_, _ = decodeCached(string(bad), new(allCached)) // must not panic
		}
	}
}

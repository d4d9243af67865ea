package spec

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ken/internal/repo"
)

// fill gives every field that a document shows some value, nothing and empty among
// them.
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

// A keptAll is all that is kept.
type keptAll struct {
	Head    keptListing
	Listing Listing
	Ground  listingInputs
	Index   index
}

// Whatever is in a listing comes back from its memo, to the last field; and of a memo
// that was cut off or changed nothing comes that could not be a listing.
func TestMemoKeepsEverything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		var want keptAll
		fill(reflect.ValueOf(&want).Elem(), rnd, 0)
		text := string(encodeMemo(nil, want))
		var got keptAll
		rest, err := decodeMemo(text, &got)
		if err != nil || rest != "" {
			t.Fatalf("%v, %d bytes are left", err, len(rest))
		}
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b repo.ID) bool { return a == b })); d != "" {
			t.Fatal(d)
		}
		for range 20 {
			bad := []byte(text[:rnd.IntN(len(text))])
			if _, err := decodeMemo(string(bad), new(keptAll)); err == nil {
				t.Fatal("half a memo was taken for a whole one")
			}
			bad = []byte(text)
			bad[rnd.IntN(len(bad))] ^= 1 << rnd.IntN(8)
			_, _ = decodeMemo(string(bad), new(keptAll)) // without a panic
		}
	}
}

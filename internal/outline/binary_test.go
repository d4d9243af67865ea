package outline_test

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"testing"

	"ken/internal/outline"
)

// The binary form of any outline decodes to an equal outline.
func TestOutlineBinary(t *testing.T) {
	const seed = 3
	rnd := rand.New(rand.NewPCG(seed, 1))
	pieces := []string{"a", "Name", " ", `"`, `\`, "<", ">", "&", "\n", "\x00", "\x7f", "é", "\u2028", "\xff", "😀", "/", "'"}
	text := func() string {
		s := ""
		for range rnd.IntN(5) {
			s += pieces[rnd.IntN(len(pieces))]
		}
		return s
	}
	// Fill every field or leave it empty, including fields that are added later.
	var fill func(v reflect.Value)
	fill = func(v reflect.Value) {
		if rnd.IntN(4) == 0 {
			return
		}
		switch v.Kind() {
		case reflect.String:
			v.SetString(text())
		case reflect.Int:
			v.SetInt(rnd.Int64N(100000))
		case reflect.Bool:
			v.SetBool(true)
		case reflect.Uint8:
			v.SetUint(rnd.Uint64N(256))
		case reflect.Array:
			for i := range v.Len() {
				fill(v.Index(i))
			}
		case reflect.Slice:
			v.Set(reflect.MakeSlice(v.Type(), rnd.IntN(4), 4))
			for i := range v.Len() {
				fill(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				fill(v.Field(i))
			}
		default:
			t.Fatalf("a field is a %s", v.Kind())
		}
	}
	for range 5000 {
		var o outline.Outline
		fill(reflect.ValueOf(&o).Elem())
		want, err := json.Marshal(&o)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := o.AppendBinary(nil)
		read, err := outline.ReadBinary(b)
		if err != nil {
			t.Fatalf("seed %d: read the binary form of %s: %v", seed, want, err)
		}
		got, err := json.Marshal(read)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != string(want) {
			t.Fatalf("seed %d\ngot  %s\nwant %s", seed, got, want)
		}
		// Damaged data gives an error or another outline, but no panic.
		b[rnd.IntN(len(b))] ^= 1 << rnd.IntN(8)
		_, _ = outline.ReadBinary(b[:rnd.IntN(len(b)+1)])
	}
	b, _ := (*outline.Outline)(nil).AppendBinary(nil)
	if o, err := outline.ReadBinary(b); o != nil || err != nil {
		t.Errorf("a nil outline decoded as %v, %v; want nil", o, err)
	}
	if _, err := outline.ReadBinary(nil); err == nil {
		t.Error("ReadBinary(nil) returned no error")
	}
}

package spec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"ken/internal/repo"
)

// A memo is written and read by the same build, so that it needs neither names nor
// tolerance: the exported fields of a value one behind the other, which is read in a
// tenth of the time that JSON takes. What is nil comes back as nil, and what is empty
// as empty.

var errMemo = errors.New("not a memo")

// encodeMemo appends a value of any type that listings are made of. One that it
// cannot write is this program's mistake, and panics: fields that are not exported,
// save those of a repo.ID.
func encodeMemo(b []byte, v any) []byte { return appendValue(b, reflect.ValueOf(v)) }

// decodeMemo reads what encodeMemo wrote into the value that v points to, and returns
// what is left.
func decodeMemo(text string, v any) (rest string, err error) {
	d := memoReader{text: text}
	d.value(reflect.ValueOf(v).Elem())
	if d.broken {
		return "", errMemo
	}
	return d.text, nil
}

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() { //nolint:exhaustive // the others are not in any document
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1)
		}
		return append(b, 0)
	case reflect.Int:
		return binary.AppendVarint(b, v.Int())
	case reflect.String:
		return appendString(b, v.String())
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0)
		}
		return appendValue(append(b, 1), v.Elem())
	case reflect.Slice:
		if v.IsNil() {
			return append(b, 0)
		}
		b = binary.AppendUvarint(b, uint64(v.Len())+1)
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return append(b, v.Bytes()...)
		}
		for i := range v.Len() {
			b = appendValue(b, v.Index(i))
		}
		return b
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int {
			if x.String() < y.String() {
				return -1
			}
			return 1
		})
		b = binary.AppendUvarint(b, uint64(len(keys)))
		for _, k := range keys {
			b = appendValue(appendString(b, k.String()), v.MapIndex(k))
		}
		return b
	case reflect.Struct:
		if v.Type() == idType {
			return appendString(b, string(v.Interface().(repo.ID).Bytes()))
		}
		for i := range v.NumField() {
			b = appendValue(b, v.Field(i))
		}
		return b
	}
	panic(fmt.Sprintf("spec: %s has no place in a memo", v.Type()))
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// idType is the one type with fields of its own.
var idType = reflect.TypeFor[repo.ID]()

// A memoReader reads values. Once something is not there it is broken, and all that
// follows is zero.
type memoReader struct {
	text   string // strings are parts of it
	broken bool
}

func (d *memoReader) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(d.byte() != 0)
	case reflect.Int:
		n := d.uvarint()
		v.SetInt(int64(n>>1) ^ -int64(n&1))
	case reflect.String:
		v.SetString(d.string())
	case reflect.Pointer:
		if d.byte() != 0 {
			p := reflect.New(v.Type().Elem())
			d.value(p.Elem())
			v.Set(p)
		}
	case reflect.Slice:
		d.slice(v)
	case reflect.Map:
		m := reflect.MakeMap(v.Type())
		for range d.length() {
			key := reflect.ValueOf(d.string()).Convert(v.Type().Key())
			e := reflect.New(v.Type().Elem()).Elem()
			d.value(e)
			m.SetMapIndex(key, e)
		}
		v.Set(m)
	case reflect.Struct:
		if v.Type() == idType {
			*v.Addr().Interface().(*repo.ID) = repo.IDFromBytes([]byte(d.string()))
			return
		}
		for i := range v.NumField() {
			d.value(v.Field(i))
		}
	default:
		d.broken = true
	}
}

func (d *memoReader) slice(v reflect.Value) {
	n := d.length()
	if n == 0 {
		return
	}
	n--
	if v.Type().Elem().Kind() == reflect.Uint8 {
		v.SetBytes([]byte(d.take(n)))
		return
	}
	v.Set(reflect.MakeSlice(v.Type(), n, n))
	for i := range n {
		d.value(v.Index(i))
	}
}

// length reads how much follows. Every element takes a byte at least, so that a
// broken one cannot ask for more memory than there is text.
func (d *memoReader) length() int {
	n := d.uvarint()
	if n > uint64(len(d.text))+1 {
		d.broken, d.text = true, ""
		return 0
	}
	return int(n)
}

func (d *memoReader) uvarint() uint64 {
	var n uint64
	for i := 0; i < len(d.text) && i < binary.MaxVarintLen64; i++ {
		c := d.text[i]
		n |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			d.text = d.text[i+1:]
			return n
		}
	}
	d.broken, d.text = true, ""
	return 0
}

func (d *memoReader) byte() byte {
	if d.text == "" {
		d.broken = true
		return 0
	}
	c := d.text[0]
	d.text = d.text[1:]
	return c
}

func (d *memoReader) string() string { return d.take(d.length()) }

func (d *memoReader) take(n int) string {
	if n > len(d.text) {
		d.broken, d.text = true, ""
		return ""
	}
	s := d.text[:n]
	d.text = d.text[n:]
	return s
}

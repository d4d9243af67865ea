package spec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"ken/internal/repo"
)

// The same build writes and reads a cached answer, so the encoding has no field names: it is the exported fields of a
// value, one after the other. encoding/json takes 7 times as long to decode the listing of 4,000 specs, and changes bytes
// that are not UTF-8. encoding/gob decodes a pointer to zero as nil, and an empty slice as nil, which the JSON documents
// tell apart.

var errEncoding = errors.New("damaged cache entry")

// encodeCached appends the encoding of a value to b. The value may be of any type that listings consist of. It
// panics on other types, and on unexported fields except those of a repo.ID.
func encodeCached(b []byte, v any) []byte { return appendValue(b, reflect.ValueOf(v)) }

// decodeCached decodes a value of encodeCached into the value that v points to, and returns the rest of the text.
func decodeCached(text string, v any) (rest string, err error) {
	d := cachedDecoder{text: text}
	d.value(reflect.ValueOf(v).Elem())
	if d.broken {
		return "", errEncoding
	}
	return d.text, nil
}

func appendValue(b []byte, v reflect.Value) []byte {
	switch v.Kind() { //nolint:exhaustive // no cached type has other kinds
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
	panic(fmt.Sprintf("spec: %s cannot be cached", v.Type()))
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// idType is the only struct type with unexported fields.
var idType = reflect.TypeFor[repo.ID]()

// A cachedDecoder decodes values. After the first error, broken is set and all further values are zero.
type cachedDecoder struct {
	text   string // decoded strings share its memory
	broken bool
}

func (d *cachedDecoder) value(v reflect.Value) {
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

func (d *cachedDecoder) slice(v reflect.Value) {
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

// length reads the number of elements that follow. Every element takes at least one byte, so a damaged length
// cannot make the decoder allocate more memory than the text has.
func (d *cachedDecoder) length() int {
	n := d.uvarint()
	if n > uint64(len(d.text))+1 {
		d.broken, d.text = true, ""
		return 0
	}
	return int(n)
}

func (d *cachedDecoder) uvarint() uint64 {
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

func (d *cachedDecoder) byte() byte {
	if d.text == "" {
		d.broken = true
		return 0
	}
	c := d.text[0]
	d.text = d.text[1:]
	return c
}

func (d *cachedDecoder) string() string { return d.take(d.length()) }

func (d *cachedDecoder) take(n int) string {
	if n > len(d.text) {
		d.broken, d.text = true, ""
		return ""
	}
	s := d.text[:n]
	d.text = d.text[n:]
	return s
}

package outline

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
)

// AppendJSON appends what [json.Marshal] makes of an outline, nil included, byte for
// byte. A survey writes one for every file, and by reflection that takes twice as
// long.
func (o *Outline) AppendJSON(out []byte) []byte {
	if o == nil {
		return append(out, "null"...)
	}
	out = appendField(append(slices.Grow(out, 1<<10+len(o.Symbols)*(1<<8)), '{'), "language", string(o.Language))
	out = appendOptional(out, "doc", o.Doc)
	out = appendOptional(out, "package", o.Package)
	for i, name := range o.Imports {
		if i == 0 {
			out = append(out, `"imports":[`...)
		}
		out = append(appendText(out, name), ',')
	}
	if len(o.Imports) > 0 {
		out = append(shut(out, ']'), ',')
	}
	for i := range o.Symbols {
		if i == 0 {
			out = append(out, `"symbols":[`...)
		}
		out = append(o.Symbols[i].appendJSON(out), ',')
	}
	if len(o.Symbols) > 0 {
		out = append(shut(out, ']'), ',')
	}
	out = appendCount(out, "more", o.More)
	out = appendOptional(out, "partial", o.Partial)
	out = appendOptional(out, "tokens", o.Tokens.String())
	out = appendOptional(out, "interface", o.Interface.String())
	out = appendOptional(out, "digest", o.Digest.String())
	return shut(out, '}')
}

func (s *Symbol) appendJSON(out []byte) []byte {
	out = appendField(append(out, '{'), "kind", string(s.Kind))
	out = appendField(out, "name", s.Name)
	out = appendOptional(out, "qualified", s.Qualified)
	out = appendField(out, "signature", s.Signature)
	out = appendOptional(out, "doc", s.Doc)
	if s.Exported {
		out = append(out, `"exported":true,`...)
	}
	out = appendCount(out, "depth", s.Depth)
	out = append(strconv.AppendInt(append(out, `"line":`...), int64(s.Line), 10), ',')
	out = append(strconv.AppendInt(append(out, `"end_line":`...), int64(s.EndLine), 10), ',')
	out = s.Text.appendJSON(append(out, `"text":`...))
	if !s.Tokens.IsZero() {
		out = s.Tokens.appendJSON(append(out, `"tokens":`...))
	}
	out = s.Shape.appendJSON(append(out, `"shape":`...))
	return shut(out, '}')
}

// appendJSON appends a sum and a comma.
func (s Sum) appendJSON(out []byte) []byte {
	out = append(out, '"')
	if !s.IsZero() {
		out = base64.RawURLEncoding.AppendEncode(out, s[:])
	}
	return append(out, `",`...)
}

// shut puts what closes a list in the place of the comma behind its last element.
func shut(out []byte, with byte) []byte {
	out[len(out)-1] = with
	return out
}

// appendField appends a field and a comma.
func appendField(out []byte, name, value string) []byte {
	out = append(append(append(out, '"'), name...), `":`...)
	return append(appendText(out, value), ',')
}

// appendOptional appends a field that is left out when it is empty.
func appendOptional(out []byte, name, value string) []byte {
	if value == "" {
		return out
	}
	return appendField(out, name, value)
}

func appendCount(out []byte, name string, n int) []byte {
	if n == 0 {
		return out
	}
	out = append(append(append(out, '"'), name...), `":`...)
	return append(strconv.AppendInt(out, int64(n), 10), ',')
}

// appendText appends a string. What is not plain ASCII is left to the library.
func appendText(out []byte, s string) []byte {
	before, done := len(out), 0
	out = append(out, '"')
	for i := range len(s) {
		c := s[i]
		if c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
			continue
		}
		out = append(out, s[done:i]...)
		done = i + 1
		switch c {
		case '"', '\\':
			out = append(out, '\\', c)
		case '<', '>', '&':
			const digits = "0123456789abcdef"
			out = append(out, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
		default:
			b, err := json.Marshal(s)
			if err != nil {
				panic(err) // any string encodes
			}
			return append(out[:before], b...)
		}
	}
	return append(append(out, s[done:]...), '"')
}

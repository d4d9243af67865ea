package install

// maxDepth is how deeply a file may be nested: far deeper than anybody writes, and not so
// deep that a parser that calls itself would end the program. TOML's has a bound of its own.
const maxDepth = 10_000

// tooDeep reports whether brackets of a JSON text are nested too deeply. Those in strings
// and comments do not count.
func tooDeep(text []byte) bool {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		case c == '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '/':
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case c == '/' && i+1 < len(text) && text[i+1] == '*':
			for i += 2; i+1 < len(text) && (text[i] != '*' || text[i+1] != '/'); i++ {
			}
			i++
		}
	}
	return false
}

package install

// maxDepth is the limit for the nesting of a JSON file. It protects the recursive parser from
// running out of stack. The TOML parser has its own limit.
const maxDepth = 10_000

// tooDeep reports whether the brackets of a JSON text are nested too deeply, not counting
// those in strings and comments.
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

package manifest

import "strings"

// An INI has the sections of a file such as tox.ini, each with its keys. The value of the key "" has the line of the
// section.
type INI map[string]map[string]INIValue

// An INIValue is the value of a key. One of several lines keeps its line ends.
type INIValue struct {
	Text string
	Line int
}

// ParseINI reads as much of an INI file as is one.
func ParseINI(content []byte) INI {
	file := make(INI)
	var section map[string]INIValue
	last := ""
	n := 0
	for line := range strings.Lines(string(content)) {
		n++
		line = strings.TrimRight(line, " \t\r\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || trimmed[0] == '#' || trimmed[0] == ';':
		case line[0] == '[' && strings.HasSuffix(line, "]"):
			name := strings.TrimSpace(line[1 : len(line)-1])
			section = file[name]
			if section == nil {
				section = map[string]INIValue{"": {Line: n}}
				file[name] = section
			}
			last = ""
		case section == nil:
		case line[0] == ' ' || line[0] == '\t':
			if v, ok := section[last]; ok && last != "" {
				v.Text = strings.TrimPrefix(v.Text+"\n"+trimmed, "\n")
				section[last] = v
			}
		default:
			i := strings.IndexAny(line, "=:")
			if i < 0 {
				last = ""
				continue
			}
			last = strings.TrimSpace(line[:i])
			section[last] = INIValue{Text: strings.TrimSpace(line[i+1:]), Line: n}
		}
	}
	return file
}

package docs

import "ken/internal/repo"

// PathsIn lists the paths that a document mentions. A document about the past mentions none,
// and neither does one that cannot be read. Paths that the words around them call removed,
// planned or an example are left out, and so are patterns.
func PathsIn(document repo.Path, content []byte) []string {
	if historical(document) || isChangelog(document, content) || roleOf(document) == Decision {
		return nil
	}
	d, err := Read(document, content)
	if err != nil {
		return nil
	}
	var list []string
	for i := range d.Mentions {
		m := &d.Mentions[i]
		if m.Kind == Path && !m.Glob && !m.Hedged && !m.Acked && m.In == "" {
			list = append(list, m.Name)
		}
	}
	return list
}

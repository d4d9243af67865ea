package mention

import "ken/internal/repo"

// PathsIn lists the paths that a document mentions. It omits patterns, and paths that the words around them call
// removed, planned or an example. It returns nothing for a document about the past, or one that cannot be read.
func PathsIn(document repo.Path, content []byte) []string {
	if IsHistorical(document) || IsChangelog(document, content) || RoleOf(document) == Decision {
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

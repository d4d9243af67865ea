package lives

import "slices"

// wrote tells the models what an operation told ken.
func (l *life) wrote(o op, before *sight, out string) {
	switch o.write.act {
	case "set", "confirm":
		l.wroteFile(o, before, out)
	case "describe", "keep", "moved":
		l.wroteDirs(o, before, out)
	case "outline":
		l.ranOutline(o, before, out)
	case "ack":
		l.wroteAck(o)
	case "share":
		// repo and clone now have what either had.
		a, b := l.stores["repo"].texts, l.stores["clone"].texts
		l.stores["repo"].texts = l.withTexts("repo", a, b)
		l.stores["clone"].texts = l.withTexts("clone", b, a)
	}
}

// withTexts adds the texts that came to those that a place has.
func (l *life) withTexts(place string, have, came []fileText) []fileText {
	all := slices.Clone(have)
	for _, t := range came {
		if slices.ContainsFunc(have, func(h fileText) bool { return h.path == t.path && h.id == t.id && h.order == t.order }) {
			continue
		}
		_, has := l.try(place, "cat-file", "-e", t.id)
		t.lacked = !has
		all = append(all, t)
	}
	return all
}

// compare holds ken against the models after an operation.
func (l *life) compare(o op) {
	switch l.kind {
	case files:
		l.compareFiles(o.place, o.look)
		if o.write.act == "share" && l.failure == "" {
			l.compareFiles("clone", o.look)
		}
	case agents, outlines:
		l.compareDirs(o.place)
	case specs:
		l.compareSpecs(o.place)
	case uses:
		l.compareUses()
	}
}

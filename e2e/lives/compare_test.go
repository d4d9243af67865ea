package lives

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
		a, b := l.stores["repo"], l.stores["clone"]
		all := append([]fileText{}, a.texts...)
		for _, t := range b.texts {
			if !containsText(all, t) {
				all = append(all, t)
			}
		}
		a.texts = all
		b.texts = append([]fileText{}, all...)
	}
}

func containsText(list []fileText, t fileText) bool {
	for _, have := range list {
		if have == t {
			return true
		}
	}
	return false
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
	}
}

package review

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"ken/internal/english"
	"ken/internal/order"
	"ken/internal/repo"
)

// A cause is one thing that a change did, with all the places that it breaks. It becomes one line.
type cause struct {
	kind    Kind
	verb    string // of one file, such as "still uses "; several files "still use "
	what    []textPart
	command string
	places  []Place
	tests   map[string]bool // places that are tests, which come last
	upTo    int             // the number of files that may be places, if not all were read
}

// add adds lines of a file, and returns its place.
func (c *cause) add(p repo.Path, lines ...int) *Place {
	i := slices.IndexFunc(c.places, func(o Place) bool { return o.PathJSON == p.JSON() })
	if i < 0 {
		i = len(c.places)
		c.places = append(c.places, Place{PathJSON: p.JSON()})
	}
	place := &c.places[i]
	place.Lines = append(place.Lines, lines...)
	slices.Sort(place.Lines)
	place.Lines = slices.Compact(place.Lines)
	return place
}

// fewPlaces limits the files, and the lines of one file, that a text names.
const fewPlaces = 3

// label returns the path of a place with its first lines.
func (p *Place) label(most int) string {
	var lines []string
	for _, n := range p.Lines[:min(most, len(p.Lines))] {
		lines = append(lines, strconv.Itoa(n))
	}
	if more := len(p.Lines) - len(lines) + p.More; more > 0 {
		return p.Path + ":" + strings.Join(lines, ",") + " +" + english.Count(more, "line")
	}
	if len(lines) == 0 {
		return p.Path
	}
	return p.Path + ":" + strings.Join(lines, ",")
}

// firstPlaces names the first files, and counts the others.
func (c *cause) firstPlaces() (words []textPart) {
	separator := ": "
	for _, p := range c.places[:min(fewPlaces, len(c.places))] {
		words = append(words, prose(separator), data(p.label(fewPlaces)))
		separator = ", "
	}
	if more := len(c.places) - fewPlaces; more > 0 {
		words = append(words, prose(", +"+english.Count(more, "file")))
	}
	return words
}

// addCause adds the line of a cause. The line of one file names it; the line of several files counts them and names
// the first.
func (j *judge) addCause(c *cause) {
	if len(c.places) == 0 && c.upTo == 0 {
		return
	}
	slices.SortFunc(c.places, func(a, b Place) int {
		return cmp.Or(order.FalseFirst(c.tests[a.Path], c.tests[b.Path]), cmp.Compare(a.Path, b.Path))
	})
	l := Line{Kind: c.kind, Command: c.command}
	if len(c.places) == 1 && c.upTo == 0 {
		p := c.places[0]
		l.PathJSON = p.PathJSON
		l.Subject = p.label(fewPlaces)
		l.Line = p.FirstLine()
		l.setText(append([]textPart{prose(c.verb)}, c.what...)...)
		j.add(l)
		return
	}
	l.Subject = english.Count(len(c.places), "file")
	if c.upTo > 0 {
		l.UpTo = c.upTo
		l.Subject = "up to " + english.Count(c.upTo, "file")
	}
	l.Places = c.places
	l.listAll = j.All
	words := append([]textPart{prose(strings.Replace(c.verb, "s ", " ", 1))}, c.what...)
	if !j.All {
		words = append(words, c.firstPlaces()...)
	}
	l.setText(words...)
	j.add(l)
}

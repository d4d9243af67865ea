package mention

import (
	"strings"
	"sync"
)

// A lexicon is a set of words. It is built on first use, because many runs read no document.
type lexicon struct {
	text string
	once sync.Once
	set  map[string]bool
}

func (l *lexicon) has(word string) bool {
	l.once.Do(func() {
		words := strings.Fields(l.text)
		l.set = make(map[string]bool, len(words))
		for _, w := range words {
			l.set[w] = true
		}
	})
	return l.set[word]
}

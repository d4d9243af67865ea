package main

import "strings"

// stopWords say little about what a commit is about.
var stopWords = func() map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(`a an the of for to in on and or with from is are be by it its as at into when if not no do does
		use uses using add adds added fix fixes fixed remove removes removed update updates make makes allow support feat chore
		refactor test tests docs style perf ci build bump merge this that only all new also via`) {
		m[w] = true
	}
	return m
}()

// splitWords returns the words of a text in lower case: identifiers are split at case and
// underscore, and kept whole as well. Words of one letter and stop words are left out.
func splitWords(text string) []string {
	var words []string
	add := func(w string) {
		if len(w) > 1 && !stopWords[w] {
			words = append(words, w)
		}
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case isLetter(c) || c == '_':
			end := i + 1
			for end < len(text) && (isLetter(text[end]) || isDigit(text[end]) || text[end] == '_') {
				end++
			}
			parts := splitIdentifier(text[i:end])
			for _, p := range parts {
				add(p)
			}
			if len(parts) > 1 {
				add(strings.Join(parts, ""))
			}
			i = end
		case isDigit(c):
			end := i + 1
			for end < len(text) && isDigit(text[end]) {
				end++
			}
			add(text[i:end])
			i = end
		default:
			i++
		}
	}
	return words
}

// splitIdentifier splits HTTPServer_v2 into http, server, v and 2.
func splitIdentifier(id string) []string {
	var parts []string
	for i := 0; i < len(id); {
		end := i
		switch c := id[i]; {
		case isDigit(c):
			for end < len(id) && isDigit(id[end]) {
				end++
			}
		case isUpper(c):
			for end < len(id) && isUpper(id[end]) {
				end++
			}
			if end < len(id) && isLower(id[end]) {
				if end-i > 1 {
					end-- // the last capital begins the next word
					break
				}
				for end < len(id) && isLower(id[end]) {
					end++
				}
			}
		case isLower(c):
			for end < len(id) && isLower(id[end]) {
				end++
			}
		default:
			i++
			continue
		}
		parts = append(parts, strings.ToLower(id[i:end]))
		i = end
	}
	return parts
}

func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLetter(c byte) bool { return isLower(c) || isUpper(c) }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// distinct returns the different words of a query, in order.
func distinct(words []string) []string {
	seen := make(map[string]bool)
	var once []string
	for _, w := range words {
		if !seen[w] {
			seen[w] = true
			once = append(once, w)
		}
	}
	return once
}

package fresh

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckText returns an error for a text that cannot be stored: it is empty, longer than most bytes, not UTF-8, or
// has a refused character. Line ends and tabs are allowed.
func CheckText(text string, most int, refused func(rune) bool) error {
	switch {
	case strings.TrimSpace(text) == "":
		return errors.New("the text is empty")
	case len(text) > most:
		return fmt.Errorf("the text has %d bytes; the limit is %d", len(text), most)
	case !utf8.ValidString(text):
		return errors.New("the text is not UTF-8")
	}
	for i, c := range text {
		if refused(c) && c != '\n' && c != '\t' {
			return fmt.Errorf("the text has the control character %U at byte %d", c, i)
		}
	}
	return nil
}

package fresh

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// CheckText says what is wrong with a text that is to be kept: it is empty, longer than
// most bytes, not UTF-8, or has a character that is refused. Lines and tabs may be in it.
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

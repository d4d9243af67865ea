package fresh

import (
	"errors"
	"fmt"
)

// UnusedRemarks says which records ken ignores and why, one line for each reason.
func UnusedRemarks(list []UnusedRecord) []string {
	var remarks []string
	for _, why := range []error{ErrDamaged, ErrFutureDate} {
		n, first := 0, ""
		for _, u := range list {
			if !errors.Is(u.Why, why) {
				continue
			}
			if n++; n == 1 {
				first = u.Label()
			}
		}
		switch {
		case n == 1:
			remarks = append(remarks, fmt.Sprintf("ignores a record about %s: %v; see what to do with: ken doctor", first, why))
		case n > 1:
			remarks = append(remarks, fmt.Sprintf("ignores %d records, one of them about %s: %v; see what to do with: ken doctor", n, first, why))
		}
	}
	return remarks
}

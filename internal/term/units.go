package term

import (
	"fmt"
	"time"

	"ken/internal/english"
)

// Bytes writes a size as a person reads it.
func Bytes(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	size, units := float64(n)/1000, "kMGTPE"
	for size >= 999.5 && len(units) > 1 {
		size, units = size/1000, units[1:]
	}
	if size < 9.95 {
		return fmt.Sprintf("%.1f %cB", size, units[0])
	}
	return fmt.Sprintf("%.0f %cB", size, units[0])
}

// Age writes how long ago t was, in the largest unit that says enough; what lies
// ahead is said to.
func Age(now, t time.Time) string {
	d := now.Sub(t)
	switch {
	case d < -time.Minute:
		return "dated in the future"
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return english.Count(int(d/time.Minute), "minute") + " ago"
	case d < 48*time.Hour:
		return english.Count(int(d/time.Hour), "hour") + " ago"
	default:
		return english.Count(int(d/(24*time.Hour)), "day") + " ago"
	}
}

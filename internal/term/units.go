package term

import (
	"fmt"
	"time"

	"ken/internal/english"
)

// Bytes formats a size for people: "12 B", "1.2 kB", "34 MB".
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

// Age formats how long ago t was: "just now", "5 minutes ago", "3 days ago".
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

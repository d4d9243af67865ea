package workflow

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"ken/internal/contract"
)

// recent is how long a failed probe is news.
const recent = 24 * time.Hour

// recentProbes reports probes that failed lately, nil if none did.
func (k *Keeper) recentProbes() (*Finding, error) {
	name := k.name(contract.Probes)
	b, err := k.dir.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	since := k.opts.Now().Add(-recent)
	categories, n := make(map[string]bool), 0
	for line := range bytes.Lines(b) {
		var r struct{ TS, Category string }
		if json.Unmarshal(line, &r) != nil || parseStamp(r.TS).Before(since) {
			continue
		}
		n++
		if r.Category != "" {
			categories[r.Category] = true
		}
	}
	if n == 0 {
		return nil, nil
	}
	what := "1 probe failed within the last 24 hours"
	if n > 1 {
		what = fmt.Sprintf("%d probes failed within the last 24 hours", n)
	}
	if words := slices.Sorted(maps.Keys(categories)); len(words) > 0 {
		what += ": " + strings.Join(words, ", ")
	}
	return &Finding{"PROBE_FAILURES_RECENT", what, "read " + k.dir.Path() + "/" + name}, nil
}

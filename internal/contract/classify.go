package contract

import "ken/internal/enum"

// A Bucket is the class of an entry. The zero value is Unknown, so that a failed
// inspection does not look like a verdict.
type Bucket int

// The buckets. Every entry is in exactly one.
const (
	Unknown        Bucket = iota // ken could not inspect it
	Canonical                    // allowed by its exact name
	PatternAllowed               // allowed by a pattern
	Ephemeral                    // a temporary file or a backup
	AdHoc                        // not allowed
)

var bucketNames = enum.Names[Bucket]{"unknown", "canonical", "pattern_allowed", "ephemeral", "ad_hoc"}

// String returns the name of the bucket.
func (b Bucket) String() string { return bucketNames.String(b) }

// MarshalText returns the name of the bucket.
func (b Bucket) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// DirBucket returns the bucket of a directory of that name.
func (c *Contract) DirBucket(name string) Bucket {
	f, known := c.File(name)
	if known && f.Dir || c.IsInstance(name) {
		return Canonical
	}
	return AdHoc
}

// Bucket returns the bucket of a file, link or device of that name.
func (c *Contract) Bucket(name string) Bucket {
	if f, ok := c.File(name); ok {
		if f.Dir {
			return AdHoc
		}
		return Canonical
	}
	patterns, ephemeral := c.rules()
	if matching(ephemeral, name) >= 0 {
		return Ephemeral
	}
	if matching(patterns, name) >= 0 {
		return PatternAllowed
	}
	return AdHoc
}

// Match returns the first pattern that matches name, whatever its bucket is.
func (c *Contract) Match(name string) (Pattern, bool) {
	patterns, _ := c.rules()
	i := matching(patterns, name)
	if i < 0 {
		return Pattern{}, false
	}
	return patterns[i].Pattern, true
}

// Evicts says when a file of that name moves because another workflow starts. A name
// that the contract does not allow Stays.
func (c *Contract) Evicts(name string) Evict {
	if f, ok := c.File(name); ok {
		return f.Evict
	}
	if c.Bucket(name) != PatternAllowed {
		return Stays
	}
	p, _ := c.Match(name)
	return p.Evict
}

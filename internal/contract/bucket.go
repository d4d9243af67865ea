package contract

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

// String returns the name of the bucket.
func (b Bucket) String() string {
	switch b {
	case Canonical:
		return "canonical"
	case PatternAllowed:
		return "pattern_allowed"
	case Ephemeral:
		return "ephemeral"
	case AdHoc:
		return "ad_hoc"
	default:
		return "unknown"
	}
}

// MarshalText returns the name of the bucket.
func (b Bucket) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

package contract

// A Bucket is how the contract sees an entry. The zero value is Unknown, so that
// a failed look cannot pass for a verdict.
type Bucket int

// The buckets. Every entry is in exactly one.
const (
	Unknown        Bucket = iota // it could not be inspected
	Canonical                    // allowed by its exact name
	PatternAllowed               // allowed by a pattern
	Ephemeral                    // a leftover that should not exist at all
	AdHoc                        // allowed by nothing
)

// String returns the bucket's word in documents and lines.
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

// MarshalText writes the bucket's word.
func (b Bucket) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

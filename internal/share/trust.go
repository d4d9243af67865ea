package share

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"ken/internal/git"
	"ken/internal/repo"
)

// A Policy is the section share of the configuration.
type Policy struct {
	Remote      string   `yaml:"remote"`        // DefaultRemote if ""
	PushOnClose bool     `yaml:"push_on_close"` // ken summary close pushes
	Trust       Trust    `yaml:"trust"`         // which commits to trust
	Authors     []string `yaml:"authors"`       // globs; the committer or signer must match one of them; empty for anyone
	Refuse      []string `yaml:"refuse"`        // globs of committers or signers whose records ken ignores and does not report
	Budget      Bytes    `yaml:"budget"`        // the maximum size of all records; DefaultBudget if 0
}

// Validate returns an error for the first wrong value, and replaces the word "anyone" with [Anyone].
func (p *Policy) Validate() error {
	switch p.Trust {
	case Anyone, SignedOff, Signed:
	case "anyone":
		p.Trust = Anyone
	default:
		return fmt.Errorf("unknown trust %q: use anyone, signed-off or signed", string(p.Trust))
	}
	for _, g := range p.Authors {
		if err := checkGlob(g); err != nil {
			return fmt.Errorf("authors: %w", err)
		}
	}
	for _, g := range p.Refuse {
		if err := checkGlob(g); err != nil {
			return fmt.Errorf("refuse: %w", err)
		}
	}
	return nil
}

// Bytes is a number of bytes. In the configuration it may have a unit: B, kB, MB or GB.
type Bytes int64

// UnmarshalYAML accepts sizes from 1 byte.
func (b *Bytes) UnmarshalYAML(n *yaml.Node) error {
	text, unit := strings.ReplaceAll(n.Value, " ", ""), int64(1)
	if rest, ok := strings.CutSuffix(strings.ToLower(text), "b"); ok {
		text = rest
		for name, bytes := range map[string]int64{"k": 1000, "m": 1000_000, "g": 1000_000_000} {
			if rest, ok := strings.CutSuffix(text, name); ok {
				text, unit = rest, bytes
				break
			}
		}
	}
	v, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n.Kind != yaml.ScalarNode || v < 1 || v > math.MaxInt64/unit {
		return fmt.Errorf("line %d: invalid size %q: expected bytes, or a number with B, kB, MB or GB", n.Line, n.Value)
	}
	*b = Bytes(v * unit)
	return nil
}

// DefaultBudget is the budget of a policy that sets none.
const DefaultBudget = 64_000_000

// DefaultRemote is the remote of a policy that names none.
const DefaultRemote = "origin"

func (p Policy) remote(given string) string { return cmp.Or(given, p.Remote, DefaultRemote) }

func (p Policy) budget() int64 { return cmp.Or(int64(p.Budget), DefaultBudget) }

// A Trust says which commits a policy trusts. Its zero value trusts everyone who can push to the
// remote.
type Trust string

// The values of share.trust.
const (
	Anyone    Trust = ""
	SignedOff Trust = "signed-off" // commits with a Signed-off-by of the committer
	Signed    Trust = "signed"     // commits with a good signature of a key that git trusts here
)

func (t Trust) String() string {
	if t == Anyone {
		return "anyone"
	}
	return string(t)
}

// trustsAnyone reports whether the policy trusts every commit.
func (p Policy) trustsAnyone() bool { return p.Trust == Anyone && len(p.Authors)+len(p.Refuse) == 0 }

// key identifies the part of the policy that decides about trust.
func (p Policy) key() string {
	if len(p.Refuse) == 0 {
		return fmt.Sprintf("%s %q", p.Trust, p.Authors)
	}
	return fmt.Sprintf("%s %q %q", p.Trust, p.Authors, p.Refuse)
}

// refuses reports whether the policy refuses a committer or signer.
func (p Policy) refuses(who string) bool {
	return slices.ContainsFunc(p.Refuse, func(g string) bool { return matches(g, who) })
}

// Unverified is the reason to ignore a record whose commit has no signature, or one of a key that
// git does not trust here.
const Unverified = "commit has no good signature of a trusted key"

// DistrustReason returns why the policy does not trust a commit, "" if it does.
func (p Policy) DistrustReason(c git.CommitInfo) (why string) {
	who := c.Committer
	switch p.Trust {
	case Anyone:
	case SignedOff:
		own := func(t repo.Trailer) bool { return strings.EqualFold(t.Key, "Signed-off-by") && t.Value == c.Committer }
		if !slices.ContainsFunc(c.Trailers, own) {
			return "commit not signed off by its committer"
		}
	case Signed:
		if !c.Good {
			return Unverified
		}
		who = c.Signer
	default:
		return fmt.Sprintf("unknown policy %q", string(p.Trust))
	}
	if p.refuses(who) || p.refuses(c.Committer) {
		return "committer in share.refuse"
	}
	if len(p.Authors) == 0 || slices.ContainsFunc(p.Authors, func(g string) bool { return matches(g, who) }) {
		return ""
	}
	return "committer not in share.authors"
}

// ownDistrustReason returns why other clones ignore the commits of this one, "" if they do not. Which
// keys other clones trust is unknown here.
func (p Policy) ownDistrustReason(who string) string {
	if who == "" || p.Trust == Signed {
		return ""
	}
	return p.DistrustReason(git.CommitInfo{Committer: who, Trailers: []repo.Trailer{{Key: "Signed-off-by", Value: who}}})
}

// matches compares a glob with "Name <address>", and with the address alone.
func matches(glob, who string) bool {
	address := who
	if _, rest, ok := strings.Cut(who, "<"); ok {
		address = strings.TrimSuffix(rest, ">")
	}
	for _, s := range []string{who, address} {
		if ok, err := path.Match(glob, s); ok && err == nil {
			return true
		}
	}
	return false
}

// checkGlob checks a glob of share.authors.
func checkGlob(glob string) error {
	if err := repo.CheckGlobSize(glob); err != nil {
		return err
	}
	if _, err := path.Match(glob, ""); err != nil || glob == "" {
		return fmt.Errorf("malformed glob %q", glob)
	}
	return nil
}

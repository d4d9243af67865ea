package share

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"ken/internal/repo"
)

// A Policy is a repository's, of what it shares.
type Policy struct {
	Remote      string   // whom with; "origin" when ""
	PushOnClose bool     // ken close pushes
	Trust       Trust    // what has to be known of who shared something
	Authors     []string // globs, one of which who shared it has to match; none: anybody
	Budget      int64    // bytes that records may have; DefaultBudget when 0
}

// DefaultBudget is how many bytes the records of a repository may have.
const DefaultBudget = 64_000_000

// DefaultRemote is whom things are shared with.
const DefaultRemote = "origin"

func (p Policy) remote(given string) string {
	for _, name := range []string{given, p.Remote} {
		if name != "" {
			return name
		}
	}
	return DefaultRemote
}

func (p Policy) budget() int64 {
	if p.Budget == 0 {
		return DefaultBudget
	}
	return p.Budget
}

// A Trust is what has to be known of who shared something. Its zero value is Anyone:
// whoever may push to the remote.
type Trust string

// The kinds of trust.
const (
	Anyone    Trust = ""
	SignedOff Trust = "signed-off" // the commit is signed off by whoever committed it
	Signed    Trust = "signed"     // the commit has a good signature, of a key that is trusted here
)

// ParseTrust reads the word for it.
func ParseTrust(s string) (Trust, error) {
	switch s {
	case "", "anyone":
		return Anyone, nil
	case string(SignedOff), string(Signed):
		return Trust(s), nil
	}
	return Anyone, fmt.Errorf("there is no trust %q: want anyone, signed-off or signed", s)
}

func (t Trust) String() string {
	if t == Anyone {
		return "anyone"
	}
	return string(t)
}

// all reports whether everything is trusted, so that nobody need be looked at.
func (p Policy) all() bool { return p.Trust == Anyone && len(p.Authors) == 0 }

// key changes with whatever decides about trust.
func (p Policy) key() string { return fmt.Sprintf("%s %q", p.Trust, p.Authors) }

// A Voucher is what is known of who made a commit.
type Voucher struct {
	Commit    repo.ID
	Committer string // Name <email>
	At        time.Time
	SignedOff []string // the same, of who signed it off
	Good      bool     // it has a good signature of a key that is trusted
	Signer    string   // whose, as the list of keys has it
}

// Unverified is why something is held back that nobody has signed, or with a key that git
// does not know here.
const Unverified = "no good signature of a trusted key"

// Trusts says why what a commit brought is held back, "" when it is not.
func (p Policy) Trusts(v Voucher) (why string) {
	who := v.Committer
	switch p.Trust {
	case Anyone:
	case SignedOff:
		if !slices.Contains(v.SignedOff, v.Committer) {
			return "not signed off by who committed it"
		}
	case Signed:
		if !v.Good {
			return Unverified
		}
		who = v.Signer
	default:
		return "nobody knows what this policy means"
	}
	if len(p.Authors) == 0 || slices.ContainsFunc(p.Authors, func(g string) bool { return matches(g, who) }) {
		return ""
	}
	return "not one of the authors"
}

// matches compares a glob with somebody, or with the address alone.
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

// CheckGlob says whether a glob of authors can be understood.
func CheckGlob(glob string) error {
	if err := repo.CheckGlobSize(glob); err != nil {
		return err
	}
	if _, err := path.Match(glob, ""); err != nil || glob == "" {
		return fmt.Errorf("malformed glob %q", glob)
	}
	return nil
}

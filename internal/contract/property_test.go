package contract_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ken/internal/contract"
)

// name draws a file name: any bytes, or one similar to a name of the contract.
func name(t *rapid.T) string {
	c := contract.Default()
	near := func() string {
		n := c.Files[rapid.IntRange(0, len(c.Files)-1).Draw(t, "file")].Name
		i := rapid.IntRange(0, len(n)).Draw(t, "at")
		return n[:i] + rapid.StringMatching(`[-_.a-zA-Z~]{0,3}`).Draw(t, "inserted") + n[min(i+rapid.IntRange(0, 3).Draw(t, "cut"), len(n)):]
	}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		return string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes"))
	case 1:
		return rapid.StringMatching(`(review|impl-summary|test-summary|slice|plan|Review_lane|[a-z]+)[-_ ][a-zA-Z0-9_. -]*\.(md|json|txt|tmp|md~)`).Draw(t, "variant")
	case 2:
		return rapid.String().Draw(t, "text")
	default:
		return near()
	}
}

// Every name is in exactly one bucket.
func TestOneBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := contract.Default()
		n := name(t)
		got := c.Bucket(n)
		f, canonical := c.File(n)
		_, matched := c.Match(n)
		leftover := strings.HasSuffix(n, ".tmp") || strings.HasSuffix(n, "~")
		want := contract.AdHoc
		switch {
		case canonical && !f.Dir:
			want = contract.Canonical
		case canonical:
		case leftover && !strings.Contains(n, "\n"):
			want = contract.Ephemeral
		case matched:
			want = contract.PatternAllowed
		}
		if got != want {
			t.Fatalf("%q is %v, want %v", n, got, want)
		}
		if d := c.DirBucket(n); d != contract.AdHoc && d != contract.Canonical || d == contract.Canonical && !f.Dir {
			t.Fatalf("the directory %q is %v", n, d)
		}
	})
}

// SuggestFile returns an allowed name that an agent may write.
func TestSuggestFileIsLegal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := contract.Default()
		n := name(t)
		near, ok := c.SuggestFile(n)
		if ok != (near != "") {
			t.Fatalf("Nearest(%q) = %q, %v", n, near, ok)
		}
		if b := c.Bucket(near); ok && b != contract.Canonical && b != contract.PatternAllowed {
			t.Fatalf("Nearest(%q) = %q, which is %v", n, near, b)
		}
		for _, r := range []contract.Role{contract.Lock, contract.Journal, contract.Archive} {
			if near == c.Name(r) {
				t.Fatalf("Nearest(%q) = %q, which is ken's", n, near)
			}
		}
	})
}

// A slug is its own slug, and fits in the name of a lane's review.
func TestSlugFits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := contract.Slug(name(t))
		if contract.Slug(s) != s {
			t.Fatalf("the slug of %q is %q", s, contract.Slug(s))
		}
		p, ok := contract.Default().Match("review-lane-" + s + ".json") // which review-* does not allow
		if !ok || p.Base != "review" || len(s) > 32 {
			t.Fatalf("%q does not fit in the name of a lane's review", s)
		}
	})
}

// The line that allows a name allows exactly that name.
func TestLineAllows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := contract.Default()
		n := name(t)
		line := base.Line(n)
		if line == "" || n == base.Name(contract.Archive) {
			return
		}
		c, err := contract.Extend("", []byte(line), "c.yaml")
		if err != nil {
			t.Fatalf("Extend(%q) returned the error %v", line, err)
		}
		if c.Bucket(n) != contract.Canonical {
			t.Fatalf("%q does not allow %q", line, n)
		}
		_, known := base.File(n)
		if more := len(c.Files) - len(base.Files); known != (more == 0) || more > 1 {
			t.Fatalf("%q adds %d files", line, more)
		}
	})
}

// Canonical names stay canonical in any extension.
func TestCanonicalStays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		base := contract.Default()
		c, err := contract.Extend("", []byte("ephemeral: [{pattern: '[a-z.].*'}]\npatterns: [{pattern: '(?s)[a-z.].+'}]\n"+base.Line(name(t))), "c.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range base.Files {
			if got := c.Bucket(f.Name); !f.Dir && got != contract.Canonical {
				t.Fatalf("%s is %v", f.Name, got)
			}
		}
	})
}

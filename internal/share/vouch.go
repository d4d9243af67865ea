package share

import (
	"context"
	"fmt"
	"slices"

	"ken/internal/fault"
	"ken/internal/repo"
)

// A Vouched is a record that was held back, and is vouched for anew by who brought it.
type Vouched struct {
	Name  Name   `json:"name"`
	About string `json:"about"` // file or directory
	repo.PathJSON
	Author string `json:"author"`
}

// me returns who commits here, "" when git does not know.
func (s *Share) me(ctx context.Context) string {
	who, _, err := s.ledger.Author(ctx)
	if err != nil {
		return ""
	}
	return who
}

// untrusted says why others hold back what is shared from here, "" when they do not as far
// as is known: whether they know a key is not.
func (s *Share) untrusted(who string) string {
	if who == "" || s.opts.Policy.Trust == Signed {
		return ""
	}
	return s.opts.Policy.Trusts(Voucher{Committer: who, SignedOff: []string{who}})
}

// unverified says why a commit of one's own is not trusted where signatures count.
func (s *Share) unverified(ctx context.Context, commit repo.ID) (string, error) {
	if s.opts.Policy.Trust != Signed {
		return "", nil
	}
	list, err := s.ledger.Verify(ctx, []repo.ID{commit})
	if err != nil {
		return "", err
	}
	return s.opts.Policy.Trusts(list[0]), nil
}

// An Own is what who commits here has brought, and is held back or not shared since it was:
// records that the store has, and lists of what was dropped.
type Own struct {
	Records int `json:"records"`
	Lists   int `json:"lists"`
}

// mine returns what somebody has brought of what is held back or unfit.
func (st *state) mine(who string, unfit []Unfit) (o Own) {
	if who == "" {
		return o
	}
	for _, h := range st.held {
		if h.Here && h.Who == who {
			o.Records++
		}
	}
	for _, u := range unfit {
		if u.Who == who {
			o.Records++
		}
	}
	for _, h := range st.doubted {
		if h.Who == who {
			o.Lists++
		}
	}
	return o
}

// vouchAnew vouches for what is held back though who commits here has brought it, as one
// does whose commits were not signed before the policy asked for it. Only what is in the
// store too is vouched for: what somebody brings in another's name once a policy stands
// never gets there.
//
// The commit that does so follows on none. It brings those records again, as one would that
// knew of nothing else; the union of both takes nothing away.
func (s *Share) vouchAnew(ctx context.Context, p *plan, out *Pushed, absorb bool) (*plan, error) {
	who, _, err := s.ledger.Author(ctx)
	if err != nil {
		return nil, err
	}
	if why := s.untrusted(who); why != "" {
		return nil, notTrusted(who, "vouch for anything", why)
	}
	if err := s.write(ctx, p, new(news)); err != nil {
		return nil, err
	}
	for n, h := range p.refused {
		if _, there := p.held[n]; !there && h.Who == who {
			delete(p.refused, n) // it is news
		}
	}
	list, puts, err := s.own(ctx, p, who)
	if err != nil || len(puts) == 0 {
		return p, err
	}
	puts = append(puts, Put{Path: formatFile, Data: []byte(formatText)})
	message := fmt.Sprintf("ken: %d files vouched for", len(puts)-1)
	root, err := s.seal(ctx, Commit{Put: puts}, message, vouching)
	if err != nil {
		return nil, err
	}
	if why, err := s.unverified(ctx, root); err != nil || why != "" {
		if err == nil {
			err = notTrusted(who, "vouch for anything", why)
		}
		return nil, err
	}
	tip, err := s.seal(ctx, Commit{Parents: []repo.ID{p.tip, root}}, message, uniting)
	if err != nil {
		return nil, err
	}
	ex, err := s.examine(ctx, p.state, tip, absorb)
	if err != nil {
		return nil, err
	}
	out.Vouched, out.Lists = list, len(puts)-1-len(list)
	next := &plan{state: ex.state, letGo: ex.letGo, replace: p.replace, crossed: p.crossed || relate(p.epoch, ex.epoch) != same}
	return next, nil
}

func notTrusted(who, do, why string) error {
	return &fault.Error{
		Hint: "see share.trust and share.authors of .ken/config.yaml, and which keys git trusts: git config gpg.ssh.allowedSignersFile",
		Err:  fmt.Errorf("%s cannot %s: %s", who, do, why),
	}
}

// own returns what of a tip is held back though somebody has brought it, and how it is
// brought again: the records that are in the store, and lists.
func (s *Share) own(ctx context.Context, p *plan, who string) ([]Vouched, []Put, error) {
	here := make(map[Name]Record)
	for mark := Mark(""); ; {
		some, next, err := s.store.Since(ctx, mark, batch)
		if err != nil {
			return nil, nil, err
		}
		if mark = next; len(some) == 0 {
			break
		}
		for _, r := range some {
			n := NameOf(Encode(r))
			if h, held := p.held[n]; held && h.Who == who {
				here[n] = r
			}
		}
	}
	changes, err := s.ledger.Differences(ctx, repo.ID{}, p.tip)
	if err != nil {
		return nil, nil, err
	}
	var list []Vouched
	var puts []Put
	for _, c := range changes {
		n, _ := recordAt(c.Path)
		r, ours := here[n]
		if ours {
			d := dropped(r, n, 0)
			list = append(list, Vouched{n, d.About, d.PathJSON, d.Author})
		}
		if l, ok := listAt(c.Path); ok && p.doubted[l].Who == who {
			ours = true
		}
		if ours {
			puts = append(puts, Put{Path: c.Path, ID: c.New})
		}
	}
	slices.SortFunc(list, func(a, b Vouched) int { return slices.Compare(a.Name[:], b.Name[:]) })
	return list, puts, nil
}

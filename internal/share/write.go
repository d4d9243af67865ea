package share

import (
	"context"
	"errors"
	"fmt"

	"ken/internal/fault"
	"ken/internal/repo"
)

// write makes the commit that a plan needs, if any, and the state that of it.
func (s *Share) write(ctx context.Context, p *plan, n *news) error {
	if p.needed || len(n.puts) > 0 {
		if !p.needed && !p.tip.IsZero() {
			p.commit.Parents = []repo.ID{p.tip}
		}
		if p.tip.IsZero() {
			p.commit.Put = append(p.commit.Put, Put{Path: formatFile, Data: []byte(formatText)})
		}
		p.commit.Put = append(p.commit.Put, n.puts...)
		for _, put := range n.puts {
			delete(p.quarantined, put.Path)
		}
		p.records += len(n.puts)
		p.bytes += n.bytes
		how := vouching
		if len(n.puts) == 0 && len(p.commit.Parents) > 1 {
			how = uniting
		}
		if err := s.commit(ctx, p, "ken: "+counted(len(n.puts)), how); err != nil {
			return err
		}
		p.needed = false
	}
	if p.recount {
		p.recount = false
		return s.count(ctx, p.state)
	}
	return nil
}

func counted(n int) string {
	switch n {
	case 0:
		return "union"
	case 1:
		return "1 record"
	}
	return fmt.Sprintf("%d records", n)
}

// A manner is what a commit does for what it has.
type manner int

const (
	vouching manner = iota // it brings something
	uniting                // its parents have all of it, and it matters to nobody who made it
)

func (s *Share) commit(ctx context.Context, p *plan, message string, how manner) (err error) {
	p.tip, err = s.seal(ctx, p.commit, message, how)
	p.commit = Commit{}
	p.vouches = p.vouches || how == vouching
	return err
}

// seal writes a commit, with what the policy wants to see of who made it.
func (s *Share) seal(ctx context.Context, c Commit, message string, how manner) (repo.ID, error) {
	who, signs, err := s.ledger.Author(ctx)
	if err != nil {
		return repo.ID{}, err
	}
	switch policy := s.opts.Policy; {
	case policy.Trust == SignedOff:
		message += "\n\nSigned-off-by: " + who
	case policy.Trust == Signed && !signs && how == vouching:
		return repo.ID{}, &fault.Error{
			Hint: "git config commit.gpgSign true",
			Err:  errors.New("only what is signed is trusted, and commits are not signed here"),
		}
	}
	c.Message, c.Sign, c.At = message+"\n", signs, s.opts.Now()
	return s.ledger.Write(ctx, c)
}

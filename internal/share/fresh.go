package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ken/internal/repo"
)

// News are what the store has and a ledger has not.
type news struct {
	puts  []Put
	bytes int64
}

// A purpose is what somebody wants to know what is fresh for.
type purpose int

const (
	toCount purpose = iota // the contents are of no use
	toWrite
)

// portion is how many bytes of records are held at once: what is more is handed to git as
// it comes.
const portion = 16 << 20

// fresh returns the records of the store that no tip has and nobody dropped, and moves
// the mark behind them. Those that were once held back are none of them, unless everybody
// is trusted: who pushes a record vouches for it.
func (s *Share) fresh(ctx context.Context, p *plan, m *Memory, why purpose, tips ...repo.ID) (*news, error) {
	if m.Mark == "" {
		m.Unfit = nil
	}
	out := new(news)
	var some []Put
	held := 0
	for {
		list, next, err := s.store.Since(ctx, m.Mark, batch)
		if err != nil {
			return nil, err
		}
		if m.Mark = next; len(list) == 0 {
			break
		}
		for _, r := range list {
			data := Encode(r)
			n := NameOf(data)
			err := fit(r, data, s.opts.Now())
			who := ""
			if h, ok := p.refused[n]; err == nil && ok && !s.opts.Policy.all() {
				if h, there := p.held[n]; there {
					h.Here = true
					p.held[n], p.refused[n] = h, h
					continue
				}
				who, err = h.Who, fmt.Errorf("it was held back when %s brought it: %s", h.who(), h.Reason)
			}
			switch {
			case p.dropped[n], p.doubtful[n]:
			case err != nil:
				m.Unfit = append(m.Unfit, Unfit{r.Path().JSON(), who, err.Error()})
			default:
				some = append(some, Put{Path: n.Path(), Data: data})
				held += len(data)
			}
			if held < portion {
				continue
			}
			if err := s.settle(ctx, p, out, some, tips); err != nil {
				return nil, err
			}
			if err := s.lighten(ctx, out.puts, why); err != nil {
				return nil, err
			}
			some, held = nil, 0
		}
	}
	return out, s.settle(ctx, p, out, some, tips)
}

// settle adds those of some records that no tip has.
func (s *Share) settle(ctx context.Context, p *plan, out *news, some []Put, tips []repo.ID) error {
	paths := make([]repo.Path, len(some))
	for i, put := range some {
		paths[i] = put.Path
	}
	there, err := s.ledger.Have(ctx, paths, tips...)
	if err != nil {
		return err
	}
	for i, put := range some {
		if _, bad := p.quarantined[put.Path]; !there[i] || bad {
			out.puts = append(out.puts, put)
			out.bytes += int64(len(put.Data))
		}
	}
	return nil
}

// lighten lets go of contents: git keeps those that are to be written, and only their ids
// are held from then on.
func (s *Share) lighten(ctx context.Context, puts []Put, why purpose) error {
	var contents [][]byte
	var of []*Put
	for i := range puts {
		if put := &puts[i]; put.Data != nil {
			contents, of = append(contents, put.Data), append(of, put)
			put.Data = nil
		}
	}
	if why == toCount {
		return nil
	}
	ids, err := s.ledger.Keep(ctx, contents)
	for i, id := range ids {
		of[i].ID = id
	}
	return err
}

// fit says why a record cannot be shared: others would not take it over.
func fit(r Record, data []byte, now time.Time) error {
	if len(data) > MaxSize {
		return fmt.Errorf("it has %d bytes, and %d is the most", len(data), MaxSize)
	}
	if _, err := time.Parse(layout, r.At().UTC().Format(layout)); err != nil {
		return errors.New("its time is none")
	}
	return r.Check(now)
}

// unpushed returns how many records of the ledger the remote is about to get.
func (s *Share) unpushed(ctx context.Context, p *plan, theirs repo.ID) (n int, err error) {
	if p.tip == theirs {
		for _, put := range p.commit.Put {
			if _, ok := recordAt(put.Path); ok {
				n++
			}
		}
		return n, nil
	}
	if p.tip.IsZero() {
		return 0, nil
	}
	changes, err := s.ledger.Differences(ctx, theirs, p.tip)
	for _, c := range changes {
		if _, ok := recordAt(c.Path); ok && !c.New.IsZero() {
			n++
		}
	}
	return n, err
}

package survey

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"maps"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A Memo keeps how directories stood, for as long as nothing moves that it was found
// from. What it does not keep is found anew: it is never needed.
type Memo interface {
	// Made names all that a judgement is made from, as it is now: the files with
	// their contents, what was written and what failed, the policy, and who judges.
	// Whatever of it changes changes the name, and no name comes back with
	// something else. It is "" when it cannot be told.
	Made(ctx context.Context) (string, error)
	// Step is asked before anything else is. It names what there was before the files
	// were looked at, as Made does, and what there is now, and lists the files that
	// were found otherwise: come, or with another content. The names are "" when
	// more may have changed.
	Step(ctx context.Context) (was, made string, changed []repo.Path, err error)
	// FilesIn returns the files that lie directly in some directories, by path.
	FilesIn(ctx context.Context, dirs []repo.Path) ([]File, error)
	// Load returns what was saved last, nil for nothing. What a crash left of it
	// may come too.
	Load(ctx context.Context) []byte
	// Save keeps a judgement, in place of the one before.
	Save(kept []byte)
	// Tracks reports whether a path is a tracked file.
	Tracks(ctx context.Context, p repo.Path) (bool, error)
	// LatestOf returns what [Store.Latest] has of some directories.
	LatestOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*Record, error)
}

// look finds how every directory stands, for readers that want to know more than that of
// few of them: those that want picks. Where nothing has moved, it is what was found
// before: directories then have no files, only their number, and of the records that
// speak for them only those that were picked are whole; the others have but a recipe.
func (s *Survey) look(ctx context.Context, want func(*judgement) []*Directory) (*judgement, error) {
	memo := s.opts.Memo
	if memo == nil {
		return s.judge(ctx)
	}
	made, err := memo.Made(ctx)
	if err != nil {
		return nil, err
	}
	if made != "" {
		if j := s.restore(made, memo.Load(ctx)); j != nil {
			switch err := j.fetch(ctx, want(j)); {
			case err != nil && !errors.Is(err, errMoved):
				return nil, err
			case err == nil:
				if again, err := memo.Made(ctx); err != nil || again == made {
					return j, err
				}
			}
			made = "" // it has moved just now, and may again
		}
	}
	j, err := s.judge(ctx)
	if err != nil || made == "" || j.unsure {
		return j, err
	}
	// What moved while it was looked at belongs to neither name.
	if again, err := memo.Made(ctx); err == nil && again == made {
		memo.Save(j.keep(made))
	}
	return j, nil
}

// A keptStanding is what is kept of a standing beyond what its fields say.
type keptStanding struct {
	files    int
	estimate int64
	from     recordSource
	basis    fresh.Digest // of a record that was found by it, there or elsewhere

	nothingNew bool
}

// A recordSource says where the record that speaks for a directory is found again, in a
// store that holds just what it held.
type recordSource byte

const (
	noRecord     recordSource = iota
	fromLatest                // the latest at the directory, with its recipe
	fromPlace                 // one that was written at the directory before, from the same
	fromBasis                 // one that was written elsewhere from the same
	sourceNumber              // of sources
)

// count is how many own files of a directory count.
func (s *Standing) count() int {
	if s.kept != nil {
		return s.kept.files
	}
	return len(s.Dir.Files)
}

const keptFormat = 4

// keep writes down how directories stand: a sum over the rest, the name of what it is
// made from, the recipes, the kinds of files, then each directory after all below it.
func (j *judgement) keep(made string) []byte {
	out := make([]byte, 4, 4+len(made)+128*len(j.order))
	out = append(out, keptFormat)
	out = appendString(out, made)
	recipes := make(map[string]int)
	var names []string
	for _, d := range j.order {
		if r := j.at[d].Record; r != nil {
			if _, ok := recipes[r.Recipe]; !ok {
				recipes[r.Recipe] = len(names)
				names = append(names, r.Recipe)
			}
		}
	}
	out = binary.AppendUvarint(out, uint64(len(names)))
	for _, n := range names {
		out = appendString(out, n)
	}
	kinds := j.extensions()
	out = binary.AppendUvarint(out, uint64(len(kinds)))
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		out = binary.AppendUvarint(appendString(out, kind), uint64(kinds[kind]))
	}
	out = binary.AppendUvarint(out, uint64(len(j.order)))
	reasons := 0
	for _, d := range j.order {
		reasons += len(j.at[d].Reasons)
	}
	out = binary.AppendUvarint(out, uint64(reasons))
	for _, d := range j.order {
		st := j.at[d]
		out = appendString(out, string(d.Path))
		out = append(out, byte(d.depth), byte(d.depth>>8), byte(d.rank), byte(d.band), byte(st.Verdict), flag(j.nothingNew(st)))
		out = appendString(out, d.Excluded)
		for _, n := range []int{st.K, st.N, len(d.Files), int(st.estimate()), len(st.Reasons)} {
			out = binary.AppendUvarint(out, uint64(n))
		}
		for _, r := range st.Reasons {
			out = appendString(out, r)
		}
		switch r := st.Record; {
		case r == nil:
			out = append(out, byte(noRecord))
		case slices.Contains(j.latest[d.Path], r):
			out = append(out, byte(fromLatest))
			out = binary.AppendUvarint(out, uint64(recipes[r.Recipe]))
		default:
			from := fromBasis
			if r.Path == d.Path { // a twin's may be newer
				from = fromPlace
			}
			out = append(out, byte(from))
			out = binary.AppendUvarint(out, uint64(recipes[r.Recipe]))
			basis := r.Basis.Digest()
			out = append(out, basis[:]...)
		}
	}
	binary.LittleEndian.PutUint32(out, keptSum(out))
	return out
}

func flag(set bool) byte {
	if set {
		return 1
	}
	return 0
}

func keptSum(b []byte) uint32 { return crc32.Checksum(b[4:], crc32.MakeTable(crc32.Castagnoli)) }

func appendString(out []byte, s string) []byte {
	return append(binary.AppendUvarint(out, uint64(len(s))), s...)
}

// restore reads what keep wrote, nil when it was made from something else, or is not
// whole.
func (s *Survey) restore(made string, b []byte) *judgement {
	prefix := appendString([]byte{keptFormat}, made)
	if len(b) < 4+len(prefix) || !bytes.Equal(b[4:4+len(prefix)], prefix) || binary.LittleEndian.Uint32(b) != keptSum(b) {
		return nil
	}
	// One copy for all the strings that are cut from it.
	r := &keptReader{rest: string(b[4+len(prefix):])}
	recipes := make([]string, r.number())
	for i := range recipes {
		recipes[i] = r.text()
	}
	kinds := make(map[string]int)
	for n := r.number(); n > 0 && !r.bad; n-- {
		kind := r.text()
		kinds[kind] = r.number()
	}
	n := r.number()
	j := &judgement{Survey: s, restored: true, kinds: kinds, order: make([]*Directory, n), at: make(map[*Directory]*Standing, n)}
	dirs, standings, facts := make([]Directory, n), make([]Standing, n), make([]keptStanding, n)
	records := make([]Record, n)
	reasons := make([]string, r.number())
	// Those whose parents have not come yet, deepest last; a parent takes what is one
	// deeper. All slices of children are cut from one.
	var open []int32
	children, below := make([]*Directory, n), make([]*Standing, n)
	for i := range n {
		d, st, k := &dirs[i], &standings[i], &facts[i]
		d.Path = repo.Path(r.text())
		d.depth = int(r.octet()) | int(r.octet())<<8
		d.rank, d.band, st.Verdict = Rank(r.octet()), Rank(r.octet()), Verdict(r.octet())
		k.nothingNew = r.octet() != 0
		d.Excluded = r.text()
		st.K, st.N, k.files, k.estimate = r.number(), r.number(), r.number(), int64(r.number())
		if m := r.number(); m > 0 && m <= len(reasons) {
			st.Reasons, reasons = reasons[:m:m], reasons[m:]
			for i := range st.Reasons {
				st.Reasons[i] = r.text()
			}
		}
		if k.from = recordSource(r.octet()); k.from != noRecord && k.from < sourceNumber {
			records[i].Path = d.Path
			if at := r.number(); at < len(recipes) {
				records[i].Recipe = recipes[at]
			}
			st.Record = &records[i]
		}
		if k.from == fromPlace || k.from == fromBasis {
			copy(k.basis[:], r.take(len(k.basis)))
		}
		if r.bad {
			return nil
		}
		first := len(open)
		for first > 0 && dirs[open[first-1]].depth == d.depth+1 {
			first--
		}
		if m := len(open) - first; m > 0 && m <= len(children) {
			d.Children, children = children[:m:m], children[m:]
			st.children, below = below[:m:m], below[m:]
			for i, c := range open[first:] {
				d.Children[i], st.children[i] = &dirs[c], &standings[c]
				dirs[c].Parent = d
			}
		}
		open = append(open[:first], int32(i))
		st.Dir, st.kept = d, k
		j.order[i], j.at[d] = d, st
	}
	if r.rest != "" {
		return nil
	}
	return j
}

// A keptReader reads what appendString and its likes wrote.
type keptReader struct {
	rest string
	bad  bool
}

func (r *keptReader) take(n int) string {
	if n < 0 || n > len(r.rest) {
		r.bad, r.rest = true, ""
		return ""
	}
	s := r.rest[:n]
	r.rest = r.rest[n:]
	return s
}

func (r *keptReader) octet() byte {
	if s := r.take(1); s != "" {
		return s[0]
	}
	return 0
}

// number reads a number that is no larger than what can follow, or was written as a
// plain one.
func (r *keptReader) number() int {
	var n uint64
	for shift := 0; shift < 63; shift += 7 {
		b := r.octet()
		n |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return int(n)
		}
	}
	r.bad = true
	return 0
}

func (r *keptReader) text() string { return r.take(r.number()) }

// fetch reads the records of some directories; errMoved says that the store no longer
// has them.
func (j *judgement) fetch(ctx context.Context, dirs []*Directory) error {
	if len(dirs) == 0 {
		return nil
	}
	var paths []repo.Path
	var places []Place
	var bases []fresh.Digest
	for _, d := range dirs {
		switch k := j.at[d].kept; k.from {
		case fromLatest:
			paths = append(paths, d.Path)
		case fromPlace:
			places = append(places, Place{d.Path, k.basis})
		case fromBasis:
			bases = append(bases, k.basis)
		default:
		}
	}
	latest, err := j.opts.Memo.LatestOf(ctx, paths)
	if err != nil {
		return err
	}
	here := make(map[Place][]*Record)
	if len(places) > 0 {
		if here, err = j.store.WrittenIn(ctx, places); err != nil {
			return err
		}
	}
	written := make(map[fresh.Digest][]*Record)
	if len(bases) > 0 {
		if written, err = j.store.WrittenFrom(ctx, bases); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		st := j.at[d]
		var among []*Record
		switch st.kept.from {
		case fromLatest:
			among = latest[d.Path]
		case fromPlace:
			among = here[Place{d.Path, st.kept.basis}]
		case fromBasis:
			among = written[st.kept.basis]
		default:
			continue
		}
		i := slices.IndexFunc(among, func(r *Record) bool {
			return r.Recipe == st.Record.Recipe && r.Outlined() == st.Record.Outlined()
		})
		if i < 0 {
			return errMoved
		}
		st.Record = among[i]
	}
	return nil
}

// errMoved says that what is kept no longer goes with the store.
var errMoved = errors.New("the store has moved on")

package survey

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"

	"ken/internal/fresh"
	"ken/internal/repo"
	"ken/internal/store"
)

// A Memo caches the verdicts of all directories until one of their inputs
// changes. It is only a cache: without it, the survey judges again.
type Memo interface {
	// Made returns a key of everything that the verdicts depend on
	// now: the files and their contents, the records, the failures,
	// the policy and the version of the rules. Different inputs
	// have different keys. It is "" if the key cannot be computed.
	Made(ctx context.Context) (string, error)
	// After returns the key, as Made does, if the only
	// change since made was computed is that these records
	// were stored. It is "" if there may be other changes.
	After(ctx context.Context, made string, kept []*store.DirRecord) (string, error)
	// Step must be called first. It verifies the files
	// and returns the key before and after that, and the
	// files that were added or changed in between. The
	// keys are "" if anything else may have changed.
	Step(ctx context.Context) (was, made string, changed []repo.Path, err error)
	// FilesIn returns the files that lie directly in some directories, by path.
	FilesIn(ctx context.Context, dirs []repo.Path) ([]File, error)
	// Load returns what was saved last, nil for nothing. What a crash left of it
	// may come too.
	Load(ctx context.Context) []byte
	// Save keeps a judgement, in place of the one before.
	Save(kept []byte)
	// LatestOf returns what [Store.Latest] has of some directories.
	LatestOf(ctx context.Context, dirs []repo.Path) (map[repo.Path][]*store.DirRecord, error)
}

// look returns the verdicts of all directories, from the
// memo if nothing changed. Then the directories have only
// the number of their files, and only the records that want
// selects are complete; the others have just their recipe.
//
// judge is how it finds them if something changed: [Survey.judge] or [Survey.judgeStored].
func (s *Survey) look(ctx context.Context, judge func(context.Context) (*judgement, error), want func(*judgement) []*Directory) (*judgement, error) {
	memo := s.opts.Memo
	if memo == nil {
		return judge(ctx)
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
	j, err := judge(ctx)
	if err != nil || made == "" || j.unsure || !j.current() {
		return j, err
	}
	// What moved while it was looked at belongs to neither name.
	if again, err := memo.Made(ctx); err == nil && again == made {
		memo.Save(j.keep(made))
	}
	return j, nil
}

// judgeMade finds how every directory stands by what is stored, and names what that was
// made from.
func (s *Survey) judgeMade(ctx context.Context) (*judgement, error) {
	made := ""
	if s.opts.Memo != nil {
		var err error
		if made, err = s.opts.Memo.Made(ctx); err != nil {
			return nil, err
		}
	}
	j, err := s.judgeStored(ctx)
	if err == nil {
		j.made = made
	}
	return j, err
}

// A keptStanding is what is kept of a standing beyond what its fields say.
type cachedStatus struct {
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
func (s *DirStatus) count() int {
	if s.kept != nil {
		return s.kept.files
	}
	return len(s.Dir.Files)
}

const keptFormat = 6

// source says where the record that speaks for a directory is found again, and the basis
// that it is found by if it is not the latest.
func (j *judgement) source(st *DirStatus) (from recordSource, basis fresh.Digest) {
	switch r := st.Record; {
	case st.kept != nil:
		return st.kept.from, st.kept.basis
	case r == nil:
		return noRecord, fresh.Digest{}
	case slices.Contains(j.latest[st.Dir.Path], r):
		return fromLatest, fresh.Digest{}
	case r.Path == st.Dir.Path: // a twin's may be newer
		return fromPlace, r.Basis.Digest()
	default:
		return fromBasis, r.Basis.Digest()
	}
}

// A numbering gives numbers to strings, in the order in which they come.
type numbering struct {
	names   []string
	numbers map[string]int
}

func (n *numbering) of(name string) int {
	i, ok := n.numbers[name]
	if !ok {
		if n.numbers == nil {
			n.numbers = make(map[string]int)
		}
		i = len(n.names)
		n.names, n.numbers[name] = append(n.names, name), i
	}
	return i
}

func (n *numbering) append(out []byte) []byte {
	out = binary.AppendUvarint(out, uint64(len(n.names)))
	for _, name := range n.names {
		out = appendString(out, name)
	}
	return out
}

// keep writes down how directories stand: a sum over the rest, the name of what it is
// made from, the recipes, how much there is of what follows, then each directory after all
// below it.
func (j *judgement) keep(made string) []byte {
	out := make([]byte, 4, 4+len(made)+128*len(j.order))
	out = append(out, keptFormat)
	out = appendString(out, made)
	var recipes numbering
	reasons := 0
	for _, d := range j.order {
		st := j.at[d]
		reasons += len(st.Reasons)
		if st.Record != nil {
			recipes.of(st.Record.Recipe)
		}
	}
	out = recipes.append(out)
	for _, n := range []int{len(j.order), reasons} {
		out = binary.AppendUvarint(out, uint64(n))
	}
	for _, d := range j.order {
		st := j.at[d]
		out = appendString(out, string(d.Path))
		out = append(out, byte(d.depth), byte(d.depth>>8), byte(d.rank), byte(d.band), byte(st.Verdict), flag(j.nothingNew(st)))
		out = appendString(out, d.Excluded)
		for _, n := range []int{st.K, st.N, st.count(), int(st.estimate()), len(st.Reasons)} {
			out = binary.AppendUvarint(out, uint64(n))
		}
		for _, r := range st.Reasons {
			out = appendString(out, r)
		}
		from, basis := j.source(st)
		out = append(out, byte(from))
		if from != noRecord {
			out = binary.AppendUvarint(out, uint64(recipes.of(st.Record.Recipe)))
		}
		if from == fromPlace || from == fromBasis {
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
	recipes := r.texts()
	n := r.size()
	j := &judgement{Survey: s, order: make([]*Directory, n), at: make(map[*Directory]*DirStatus, n)}
	dirs, standings, facts := make([]Directory, n), make([]DirStatus, n), make([]cachedStatus, n)
	records := make([]store.DirRecord, n)
	reasons := make([]string, r.size())
	// Those whose parents have not come yet, deepest last; a parent takes what is one
	// deeper. All slices of children are cut from one.
	var open []int32
	children, below := make([]*Directory, n), make([]*DirStatus, n)
	for i := range n {
		d, st, k := &dirs[i], &standings[i], &facts[i]
		d.Path = repo.Path(r.text())
		d.depth = int(r.octet()) | int(r.octet())<<8
		d.rank, d.band, st.Verdict = Rank(r.octet()), Rank(r.octet()), Verdict(r.octet())
		k.nothingNew = r.octet() != 0
		d.Excluded = r.text()
		st.K, st.N, k.files, k.estimate = r.number(), r.number(), r.number(), int64(r.number())
		m := r.number()
		if m > len(reasons) {
			return nil
		}
		if m > 0 {
			st.Reasons, reasons = reasons[:m:m], reasons[m:]
		}
		for i := range st.Reasons {
			st.Reasons[i] = r.text()
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

// size reads how many of something follow, none of which takes less than a byte.
func (r *keptReader) size() int {
	n := r.number()
	if n > len(r.rest) {
		r.bad, r.rest = true, ""
		return 0
	}
	return n
}

func (r *keptReader) texts() []string {
	list := make([]string, r.size())
	for i := range list {
		list[i] = r.text()
	}
	return list
}

// fetch reads the records of some directories; errMoved says that the store no longer
// has them.
func (j *judgement) fetch(ctx context.Context, dirs []*Directory) error {
	if len(dirs) == 0 {
		return nil
	}
	var paths []repo.Path
	var places []store.DirVersion
	var bases []fresh.Digest
	for _, d := range dirs {
		switch k := j.at[d].kept; k.from {
		case fromLatest:
			paths = append(paths, d.Path)
		case fromPlace:
			places = append(places, store.DirVersion{Path: d.Path, Basis: k.basis})
		case fromBasis:
			bases = append(bases, k.basis)
		default:
		}
	}
	latest, err := j.opts.Memo.LatestOf(ctx, paths)
	if err != nil {
		return err
	}
	here := make(map[store.DirVersion][]*store.DirRecord)
	if len(places) > 0 {
		if here, err = j.store.WrittenIn(ctx, places); err != nil {
			return err
		}
	}
	written := make(map[fresh.Digest][]*store.DirRecord)
	if len(bases) > 0 {
		if written, err = j.store.WrittenFrom(ctx, bases); err != nil {
			return err
		}
	}
	for _, d := range dirs {
		st := j.at[d]
		var among []*store.DirRecord
		switch st.kept.from {
		case fromLatest:
			among = latest[d.Path]
		case fromPlace:
			among = here[store.DirVersion{Path: d.Path, Basis: st.kept.basis}]
		case fromBasis:
			among = written[st.kept.basis]
		default:
			continue
		}
		i := slices.IndexFunc(among, func(r *store.DirRecord) bool {
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
var errMoved = errors.New("the store changed meanwhile")

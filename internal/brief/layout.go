package brief

import (
	"slices"
	"strings"

	"ken/internal/fresh"
	"ken/internal/repo"
)

// A block is a section that fit fills. Its first items, or some of them if the budget is small,
// come before those of later blocks. Further items follow as the budget allows.
type block struct {
	Section
	items  []Item
	first  int  // items that come before those of later blocks
	grows  bool // a larger budget adds items beyond the first ones
	total  int  // number of existing items; items may have fewer
	listed int
}

// factBlock returns a block of facts that ken derived.
func factBlock(subject string, first int, items ...Item) *block {
	return &block{Section: Section{Subject: subject, Verdict: fresh.Fresh.String()}, items: items, first: first, total: len(items)}
}

// growingBlock returns a block of facts that lists more items if the budget is larger.
func growingBlock(subject string, first int, items ...Item) *block {
	k := factBlock(subject, first, items...)
	k.grows = true
	return k
}

// unknownBlock returns a block that says what ken could not find out.
func unknownBlock(subject, why string) *block {
	return &block{Section: Section{Subject: subject, Verdict: fresh.Unknown.String(), Text: why, ByKen: true}}
}

// lineBlock returns a block with one fact.
func lineBlock(subject, text string) *block {
	return &block{Section: Section{Subject: subject, Verdict: fresh.Fresh.String(), Text: text, ByKen: true}}
}

// minCutBytes is the shortest useful length of a cut text.
const minCutBytes = 40

// minTextBytes is the number of bytes that a text may have even with the smallest budget.
const minTextBytes = 240

// minItems is the number of items that a block lists even with the smallest budget.
func (k *block) minItems() int {
	if k.grows {
		return 2
	}
	return 1
}

// maxItems is the number of items that a block lists with an unlimited budget.
func (k *block) maxItems() int {
	if k.grows {
		return len(k.items)
	}
	return min(k.first, len(k.items))
}

// fit puts as much of the blocks into a brief as the budget allows: first the beginning of
// each block in order, then further items, one of each block in turn.
func (b *Brief) fit(blocks []*block, budget int) {
	if budget == 0 {
		budget = DefaultBudget
	}
	left := budget * BytesPerToken
	for _, n := range b.notes() {
		left -= len(n)
	}
	var chosen []*block
	for _, k := range blocks {
		if k == nil || k.Text == "" && len(k.items) == 0 {
			continue
		}
		if len(k.items) == 0 {
			s := k.Section
			room := left
			if budget < DefaultBudget {
				room = max(left/2, min(left, minTextBytes)) // leave some for later blocks
			}
			if over := len(s.String()) - room; over > 0 {
				if len(s.Text)-over < minCutBytes {
					b.LeftOut++
					left -= b.omit(s.Subject, left)
					continue
				}
				k.Text = cutLines(s.Text, len(s.Text)-over)
			}
			left -= len(k.String())
			chosen = append(chosen, k)
			continue
		}
		size := len(k.Subject) + len(":\n")
		if v := k.shownVerdict(); v != "" {
			size += len(v) + len("[] ")
		}
		first := k.first
		if budget < DefaultBudget { // leave room for later blocks
			first = max(k.minItems(), first*budget/DefaultBudget)
		}
		n := 0
		for n < len(k.items) && n < first && size+k.growth(n) <= left {
			size += k.growth(n)
			n++
		}
		if n == 0 {
			b.LeftOut += k.total
			left -= b.omit(k.Subject, left)
			continue
		}
		k.listed = n
		left -= size
		chosen = append(chosen, k)
	}
	for grown := true; grown; {
		grown = false
		for _, k := range chosen {
			if k.listed < k.maxItems() && k.growth(k.listed) <= left {
				left -= k.growth(k.listed)
				k.listed++
				grown = true
			}
		}
	}
	b.Sections = []Section{}
	for _, k := range chosen {
		if len(k.items) > 0 {
			lines := make([]string, k.listed)
			for i := range lines {
				lines[i] = k.items[i].show
			}
			k.Text = strings.Join(lines, "\n")
			k.Items = k.items[:k.listed]
			k.More = k.total - k.listed
			b.LeftOut += k.More
		}
		b.Sections = append(b.Sections, k.Section)
	}
	b.Tokens = (len(b.String()) + BytesPerToken - 1) / BytesPerToken
}

// omit names a subject that did not fit, if its name fits, and returns how much longer that makes the brief.
func (b *Brief) omit(subject string, left int) int {
	without := *b
	b.Omitted = append(slices.Clip(b.Omitted), subject)
	size := len(b.omittedLine()) - len(without.omittedLine())
	if size > left {
		b.Omitted = without.Omitted
		return 0
	}
	return size
}

// growth is how much longer a block with n items gets by the next one.
func (k *block) growth(n int) int {
	size := itemSize(k.items[n])
	if n > 0 {
		size -= len(moreLine(k.total - n))
	}
	return size + len(moreLine(k.total-n-1))
}

// itemSize is the length of an item's line, with its indent.
func itemSize(it Item) int { return len("  ") + len(it.show) + 1 }

// cut shortens a text to so many bytes.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	limit -= len("…")
	for limit > 0 && text[limit]&0xC0 == 0x80 { // not within a character
		limit--
	}
	return strings.TrimRight(text[:max(limit, 0)], " ,;\n") + "…"
}

// cutLines shortens a text to so many bytes, after a line where it can.
func cutLines(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	if i := strings.LastIndexByte(text[:max(0, limit-len("\n…"))], '\n'); i > limit/2 {
		return text[:i] + "\n…"
	}
	return cut(text, limit)
}

// name returns a path as a line shows it.
func name(p repo.Path) string { return repo.DirLabel(p).String() }

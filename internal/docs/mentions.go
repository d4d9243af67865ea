package docs

import (
	"ken/internal/docs/mention"
	"ken/internal/repo"
)

// readMentions reads one document, and hides mentions that are not useful. partial says why there may be more
// mentions; "" if the list is complete.
func readMentions(doc repo.Path, content []byte) (list []CheckedMention, partial string, err error) {
	read, err := mention.Read(doc, content)
	if err != nil {
		return nil, "", err
	}
	list = make([]CheckedMention, len(read.Mentions))
	past, decision := mention.IsHistorical(doc) || mention.IsChangelog(doc, content), mention.RoleOf(doc) == mention.Decision
	for i, m := range read.Mentions {
		list[i].Mention = m
		if m.Declared {
			list[i].Verdict, list[i].Why = Holds, "the document declares it"
		}
		switch {
		case m.Acked:
			list[i].Hidden = HiddenAcked
		case past, decision && m.Form != mention.Link: // true at the time of the decision, but a link must work now
			list[i].Hidden = HiddenHistorical
		case m.SaidGone && m.Form != mention.Link: // a link must work nevertheless
			list[i].Hidden = HiddenHedged
		}
	}
	return list, read.Partial, nil
}

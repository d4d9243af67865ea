package docs

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ken/internal/cache"
	"ken/internal/repo"
	"ken/internal/workspace"
)

// staleMentions are the mentions that the last check of all documents listed as stale, at the commit Head.
type staleMentions struct {
	Head repo.ID        `json:"head"`
	List []staleMention `json:"list"`
}

type staleMention struct {
	Document []byte `json:"document"`
	Text     string `json:"text"`
}

// StaleMentions returns the mentions that the last check of all documents in a worktree listed as stale, by document,
// and the commit of that check. The survey quotes no paragraph that has one.
func StaleMentions(ws *workspace.Workspace) (byDocument map[repo.Path][]string, head repo.ID) {
	stored, _ := ws.Cache.Load(staleMentionsKey(ws))
	var last staleMentions
	if json.Unmarshal(stored, &last) != nil {
		return nil, repo.ID{}
	}
	byDocument = make(map[repo.Path][]string)
	for _, m := range last.List {
		p := repo.Path(m.Document)
		byDocument[p] = append(byDocument[p], m.Text)
	}
	return byDocument, last.Head
}

// saveStaleMentions stores the stale mentions of a report on all documents. It ignores errors.
func (c *Checker) saveStaleMentions(rep *Report) {
	found := staleMentions{Head: rep.Head, List: []staleMention{}}
	for _, m := range rep.Stale() {
		found.List = append(found.List, staleMention{[]byte(m.File), m.Text})
	}
	text, err := json.Marshal(found)
	if err != nil {
		return
	}
	key := staleMentionsKey(c.Workspace)
	if stored, _ := c.Cache.Load(key); !bytes.Equal(text, stored) {
		c.Cache.Save(key, text)
	}
}

func staleMentionsKey(ws *workspace.Workspace) *cache.Key {
	k := ws.Cache.Key("stale-mentions")
	fmt.Fprintf(k, "%q", ws.Git.GitDir())
	return k
}

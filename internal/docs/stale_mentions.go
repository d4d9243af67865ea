package docs

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ken/internal/cache"
	"ken/internal/repo"
	"ken/internal/workspace"
)

// A staleMention is a mention that the last check of all documents listed as stale.
type staleMention struct {
	Document []byte `json:"document"`
	Text     string `json:"text"`
}

// StaleMentions returns the mentions that the last check of all documents in a worktree listed as stale, by document.
// The survey quotes no paragraph that has one.
func StaleMentions(ws *workspace.Workspace) map[repo.Path][]string {
	stored, _ := ws.Cache.Load(staleMentionsKey(ws))
	var list []staleMention
	if json.Unmarshal(stored, &list) != nil {
		return nil
	}
	byDocument := make(map[repo.Path][]string)
	for _, m := range list {
		p := repo.Path(m.Document)
		byDocument[p] = append(byDocument[p], m.Text)
	}
	return byDocument
}

// saveStaleMentions stores the stale mentions of a report on all documents. It ignores errors.
func (c *Checker) saveStaleMentions(rep *Report) {
	list := []staleMention{}
	for _, m := range rep.Stale() {
		list = append(list, staleMention{[]byte(m.File), m.Text})
	}
	text, err := json.Marshal(list)
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

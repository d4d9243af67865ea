package web

import (
	"fmt"
	"net/http"

	"ken/internal/board"
	"ken/internal/workflow"
)

// A stateBody has values of the state page that are not on the board.
type stateBody struct {
	Fields    []field
	History   []string // ids of earlier workflows, oldest first
	Snapshots []board.Snapshot
}

// A field is a key of the workflow document.
type field struct{ Key, Value string }

// statePage shows the workflow, its files, the cleanup plan and the snapshots.
func (s *Server) statePage(r *http.Request) (*pageData, error) {
	f, err := s.newPage(r, "state", "State")
	if err != nil || f.Tree == nil {
		return f, err
	}
	st := f.Tree.State.Known
	if st == nil {
		return f, nil
	}
	b := &stateBody{}
	if d := st.Workflow.Known; d != nil {
		b.fields(d)
	}
	if list := st.Snapshots.Known; list != nil {
		for i := len(*list) - 1; i >= 0; i-- {
			b.Snapshots = append(b.Snapshots, (*list)[i])
		}
	}
	f.Body = b
	return f, nil
}

// fields lists the keys of the document, and its history separately.
func (b *stateBody) fields(d *workflow.Document) {
	for _, key := range d.Keys() {
		v, _ := d.Get(key)
		if list, ok := v.([]any); ok && key == "workflow_id_history" {
			for _, id := range list {
				if text := fmt.Sprint(id); text != d.Text("workflow_id") {
					b.History = append(b.History, text)
				}
			}
			continue
		}
		text := d.Text(key)
		if text == "" && v != nil {
			text = fmt.Sprint(v)
		}
		b.Fields = append(b.Fields, field{key, text})
	}
}

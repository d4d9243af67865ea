package web

import (
	"fmt"
	"net/http"

	"ken/internal/board"
	"ken/internal/workflow"
)

// A stateBody is what the page of the state directory shows besides the board's part.
type stateBody struct {
	Fields    []field
	History   []string // ids of workflows that were, oldest first
	Snapshots []board.Snapshot
}

// A field is one of the workflow document.
type field struct{ Key, Value string }

// statePage is the state directory: what lies there, what a cleanup would move, what
// can come back, and which workflow it is about.
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

// fields lists what the document says; its history stands apart.
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

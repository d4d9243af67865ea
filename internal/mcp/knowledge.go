package mcp

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/registry"
	"ken/internal/repo"
	"ken/internal/survey"
)

type knowledgeInput struct {
	rootInput
	Paths  []string `json:"paths" jsonschema:"files and directories, from the repository root (.)"`
	Budget int      `json:"budget,omitempty" jsonschema:"size of all texts in tokens; default: no limit"`
}

// A knowledge has the summaries of the requested paths, in their order.
type knowledge struct {
	Knowledge []pathKnowledge `json:"knowledge"`
	Shortened int             `json:"shortened"` // texts left out because of the budget
}

// A pathKnowledge is the summary of a directory if dir is set, else of a file.
type pathKnowledge struct {
	file registry.Knowledge
	dir  *survey.ShownDirectory
}

// MarshalJSON writes the directory or the file.
func (k pathKnowledge) MarshalJSON() ([]byte, error) {
	if k.dir != nil {
		return json.Marshal(k.dir)
	}
	return json.Marshal(k.file)
}

func (s *server) addKnowledge(m *mcp.Server) {
	add(s, m, &mcp.Tool{
		Name: "knowledge",
		Description: "Summaries of files and directories, with verdict and receipt. Use a fresh one instead of reading the file; " +
			"a stale one describes older content. If you read a file whose summary is stale or none, write a new summary.",
		Annotations: readOnly(),
	}, func(ctx context.Context, req *mcp.CallToolRequest, in knowledgeInput) (*mcp.CallToolResult, *knowledge, error) {
		return withWorkspace(ctx, s, req, in.Root, func(w Workspace) (*knowledge, error) {
			if len(in.Paths) == 0 {
				return nil, &fault.Error{
					Kind: fault.Usage, Hint: "name files and directories, from the repository root (.): " + exampleOf("knowledge", []string{"paths"}, nil),
					Err: errors.New("paths is empty"),
				}
			}
			paths, err := rootPaths(w, in.Paths)
			if err != nil {
				return nil, err
			}
			return answerKnowledge(ctx, w, paths, in.Budget)
		})
	}, func(out *jsonschema.Schema) { out.Properties["knowledge"].Items = knownSchema() })
}

func answerKnowledge(ctx context.Context, w Workspace, paths []repo.Path, budget int) (*knowledge, error) {
	files, err := w.Registry().Show(ctx, paths)
	if err != nil {
		return nil, err
	}
	out := &knowledge{Knowledge: make([]pathKnowledge, len(paths))}
	var ask []repo.Path
	var which []int
	for i, f := range files {
		if f.CurrentID.IsZero() { // not a readable file; it may be a directory
			ask, which = append(ask, paths[i]), append(which, i)
		}
	}
	if len(ask) > 0 {
		dirs, err := w.Survey(nil).Directories(ctx, ask)
		if err != nil {
			return nil, err
		}
		for k, i := range which {
			if out.Knowledge[i].dir = dirs[k]; dirs[k] != nil {
				files[i].Text = dirs[k].Words()
			}
		}
	}
	for i := range files {
		files[i].Hint = forAgents(files[i].Hint)
	}
	out.Shortened = registry.Shorten(files, budget)
	for i := range out.Knowledge {
		k := &out.Knowledge[i]
		if k.file = files[i]; k.dir != nil && k.dir.Text != nil && files[i].Text == "" {
			k.dir.Text = nil
			k.dir.Reasons = append(k.dir.Reasons, files[i].Reasons[len(files[i].Reasons)-1])
		}
	}
	return out, nil
}

// knownSchema is the schema of a pathKnowledge: required are the fields that files and
// directories share.
func knownSchema() *jsonschema.Schema {
	file, dir := schemaFor[registry.Knowledge](), schemaFor[survey.ShownDirectory]()
	var both []string
	for _, name := range file.Required {
		if _, ok := dir.Properties[name]; ok {
			both = append(both, name)
		}
	}
	for name, p := range dir.Properties {
		if old, ok := file.Properties[name]; !ok || old.Type == "string" && len(p.Types) > 0 {
			file.Properties[name] = p
		}
	}
	file.Required = both
	return file
}

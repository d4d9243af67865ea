package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/testrepo"
)

type unknownFact struct{ What, Why string }

type specFacts struct {
	ID, Status, Title, Desc, Path string
	Version, Drift                *int
	Session                       *string
	DriftFiles                    []struct {
		File   string
		Behind int
	} `json:"drift_files"`
	Overlays []struct{ Worktree, Op string }
	Ghost    bool
	Body     *string
	History  []struct{ Commit, Subject string }
	Unknown  []unknownFact
	LeftOut  map[string]int `json:"left_out"`
}

type specClaim struct{ ID, Desc, Entry string }

type specAnswer struct {
	Head   string
	Counts map[string]int
	Nodes  []specFacts
	Node   *specFacts
	Owners []struct {
		Path               string
		Governing, Related []specClaim
	}
	Omitted int
	Unknown []unknownFact
	Note    string
}

// spec calls the tool spec.
func (a *agent) spec(args map[string]any) (out specAnswer) {
	a.t.Helper()
	a.call("spec", args, &out)
	return out
}

func (s specAnswer) ids() (ids []string) {
	for _, n := range s.Nodes {
		ids = append(ids, n.ID)
	}
	return ids
}

// is compares a number that may be unknown.
func is(got *int, want int) bool { return got != nil && *got == want }

// specs is a repository with three nodes: one that governs code, one beside it, and
// one whose name needs to be escaped.
func specs(t *testing.T) *testrepo.Repo {
	t.Helper()
	r := testrepo.New(t)
	r.Write(".spec/lexer/spec.md", "---\ntitle: Lexer\ndesc: words into tokens\ncode: [src/lex.go]\nrelated: [src/token.go]\n---\n# Lexer\n\nNever reads twice.\n")
	r.Write(".spec/printer/spec.md", "---\ncode: [src/print.go]\n---\nPrints.\n")
	r.Write(".spec/größe & maß/spec.md", "Measures.\n")
	r.Write("src/lex.go", "package src\n")
	r.Write("src/print.go", "package src\n")
	r.Commit("begin")
	return r
}

// An agent finds the spec of the file that it edits, and sees the drift that its commit
// causes.
func TestAgentReadsSpecs(t *testing.T) {
	r := specs(t)
	a := connect(t, r)

	got := a.spec(nil)
	if len(got.Nodes) != 3 || got.Counts["merged"] != 3 || got.Omitted != 0 || len(got.Unknown) != 0 {
		t.Fatalf("the list: %+v", got)
	}
	r.Write("src/lex.go", "package src // edited\n")
	head := r.Commit("lex faster")
	got = a.spec(map[string]any{"limit": 1})
	if got.Head != head || got.Omitted != 2 || got.Counts["drift"] != 1 || got.Counts["merged"] != 2 {
		t.Fatalf("the list after a commit: %+v", got)
	}
	if n := got.Nodes[0]; n.ID != "lexer" || n.Status != "drift" || !is(n.Drift, 1) || n.DriftFiles[0].File != "src/lex.go" || n.DriftFiles[0].Behind != 1 {
		t.Fatalf("the node that drifts: %+v", n)
	}

	got = a.spec(map[string]any{"paths": []string{"src/lex.go", filepath.Join(r.Dir, "src/token.go"), "README"}})
	if len(got.Owners) != 3 || !slices.Equal(got.Owners[0].Governing, []specClaim{{"lexer", "words into tokens", "src/lex.go"}}) {
		t.Fatalf("owners: %+v", got.Owners)
	}
	if o := got.Owners[1]; o.Path != "src/token.go" || len(o.Governing) != 0 || len(o.Related) != 1 {
		t.Errorf("related specs: %+v", o)
	}
	if o := got.Owners[2]; len(o.Governing)+len(o.Related) != 0 {
		t.Errorf("a path without an owner: %+v", o)
	}
	if !slices.Equal(got.ids(), []string{"lexer"}) || got.Nodes[0].Status != "drift" {
		t.Errorf("nodes of the owners: %+v", got.Nodes)
	}

	got = a.spec(map[string]any{"id": "lexer", "history": true})
	if n := got.Node; n == nil || !is(n.Version, 1) || !is(n.Drift, 1) || !strings.Contains(*n.Body, "Never reads twice") || len(n.History) != 1 || n.History[0].Subject != "begin" {
		t.Fatalf("one node: %+v", got.Node)
	}

	if words := a.resource("ken://spec/lexer"); !strings.Contains(words, "\nstatus: drift\n") || !strings.Contains(words, "\nbehind: src/lex.go +1\n") || !strings.Contains(words, "\nNever reads twice.\n") {
		t.Errorf("the resource: %s", words)
	}
}

// An agent acknowledges drift with a reason. A refused ack makes no commit.
func TestAgentAcksSpecs(t *testing.T) {
	r := specs(t)
	r.Write("src/lex.go", "package src // edited\n")
	head := r.Commit("lex faster")
	a := connect(t, r, "KEN_SESSION=s-42")
	for _, c := range []struct{ ids, reason, names string }{
		{"lexr", "x", "lexer"},
		{"lexer lexr", "x", "lexer"},
		{"lexer", " \n", "hint: set reason: why the specs still hold"},
		{"", "x", "spec without arguments"},
	} {
		words := a.refused("spec_ack", map[string]any{"ids": strings.Fields(c.ids), "reason": c.reason})
		if !strings.Contains(words, c.names) {
			t.Errorf("the refusal of an ack of %q with the reason %q does not mention %q: %s", c.ids, c.reason, c.names, words)
		}
	}
	if now := r.Git("rev-parse", "HEAD"); now != head {
		t.Fatal("a refused ack made a commit")
	}

	r.Write("src/print.go", "package src // at work\n")
	var acked struct {
		Commit string
		Nodes  []string
	}
	a.call("spec_ack", map[string]any{"ids": []string{"lexer"}, "reason": "only faster"}, &acked)
	if now := r.Git("rev-parse", "HEAD"); acked.Commit != now || !slices.Equal(acked.Nodes, []string{"lexer"}) {
		t.Fatalf("acked: %+v, HEAD %s", acked, now)
	}
	if message := r.Git("log", "-1", "--format=%B"); !strings.Contains(message, "only faster") || !strings.Contains(message, "Session: s-42") {
		t.Errorf("commit message: %s", message)
	}
	if status := r.Git("status", "--porcelain"); status != " M src/print.go" {
		t.Errorf("the work tree after an ack: %q", status)
	}
	if got := a.spec(map[string]any{"id": "lexer"}); got.Node.Status != "merged" || !is(got.Node.Drift, 0) || got.Head != acked.Commit {
		t.Errorf("after the ack: %+v", got.Node)
	}

	side := r.Worktree("side")
	side.Write("src/print.go", "package src\n\nfunc Print() {}\n")
	side.Commit("print")
	a.call("spec_ack", map[string]any{"ids": []string{"printer"}, "reason": "as it was", "root": side.Dir}, &acked)
	if here, there := r.Git("rev-parse", "HEAD"), side.Git("rev-parse", "HEAD"); acked.Commit != there || here == there {
		t.Errorf("acked in another worktree: %+v; here %s, there %s", acked, here, there)
	}
}

// The tool refuses contradictory arguments and says which are valid.
func TestAgentSendsWrongSpecArguments(t *testing.T) {
	r := specs(t)
	a := connect(t, r)
	for _, c := range []struct {
		args  map[string]any
		names string
	}{
		{map[string]any{"id": "lexer", "paths": []string{"src/lex.go"}}, "set only one of"},
		{map[string]any{"history": true}, "id"},
		{map[string]any{"id": "lexr"}, "lexer"},
		{map[string]any{"id": "nothing like it"}, "spec without arguments"},
		{map[string]any{"paths": []string{"../elsewhere"}}, "inside the repository"},
		{map[string]any{"root": t.TempDir()}, "hint: "},
		{map[string]any{"nonsense": 1}, "nonsense"},
	} {
		if words := a.refused("spec", c.args); !strings.Contains(words, c.names) {
			t.Errorf("the refusal of %v does not mention %q: %s", c.args, c.names, words)
		}
	}
	// Empty arguments count as absent.
	if got := a.spec(map[string]any{"id": "", "paths": []string{}}); len(got.Nodes) != 3 {
		t.Errorf("empty arguments: %+v", got)
	}
}

// Without specs, the answer says how to create one.
func TestAgentFindsNoSpecs(t *testing.T) {
	r := testrepo.New(t)
	a := connect(t, r)
	got := a.spec(nil)
	if got.Nodes == nil || len(got.Nodes) != 0 || !strings.Contains(got.Note, "ken spec new") {
		t.Errorf("before the first commit: %+v", got)
	}
	if list, err := a.session.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 1 || list.Resources[0].URI != "ken://brief" {
		t.Errorf("resources: %+v %v", list, err)
	}
}

// In a shallow clone, every fact that needs the whole history is unknown.
func TestAgentInAShallowClone(t *testing.T) {
	r := specs(t)
	r.Write("src/lex.go", "package src // edited\n")
	r.Commit("lex faster")
	a := connect(t, r.Clone("--depth=1"))

	got := a.spec(nil)
	if got.Counts["merged"] != 0 || got.Counts["unknown"] == 0 {
		t.Errorf("counts: %+v", got.Counts)
	}
	i := slices.Index(got.ids(), "lexer")
	if n := got.Nodes[i]; n.Status != "unknown" || n.Version != nil || n.Drift != nil {
		t.Errorf("the row: %+v", n)
	}
	if !slices.ContainsFunc(got.Unknown, func(u unknownFact) bool {
		return u.What == "drift" && strings.Contains(u.Why, "git fetch --unshallow")
	}) {
		t.Errorf("the reasons: %+v", got.Unknown)
	}
	got = a.spec(map[string]any{"id": "lexer", "history": true})
	if n := got.Node; n.Status != "unknown" || n.Drift != nil || n.History != nil || !slices.ContainsFunc(n.Unknown, func(u unknownFact) bool { return u.What == "history" }) {
		t.Errorf("the node: %+v", n)
	}
	if got = a.spec(map[string]any{"paths": []string{"src/lex.go"}}); got.Nodes[0].Drift != nil || len(got.Unknown) == 0 {
		t.Errorf("owners: %+v", got)
	}
	if words := a.resource("ken://spec/lexer"); !strings.Contains(words, "\nstatus: unknown\n") || !strings.Contains(words, "\ndrift: unknown\n") {
		t.Errorf("the resource: %s", words)
	}
}

// resource reads a resource that must exist.
func (a *agent) resource(uri string) string {
	a.t.Helper()
	res, err := a.session.ReadResource(a.t.Context(), &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		a.t.Fatalf("ReadResource(%q) returned the error %v", uri, err)
	}
	if len(res.Contents) != 1 || res.Contents[0].MIMEType != "text/markdown" || res.TTLMs != 0 || res.CacheScope != "private" {
		a.t.Errorf("the resource %s is %+v; want one private Markdown text", uri, res)
	}
	return res.Contents[0].Text
}

// Every node can be read under the name that the list gives it, for any spelling of its id.
// Every other name is not found.
func TestAgentReadsSpecResources(t *testing.T) {
	r := specs(t)
	a := connect(t, r)
	if caps := a.session.InitializeResult().Capabilities; caps.Resources == nil || caps.Resources.ListChanged {
		t.Errorf("capabilities for resources: %+v", caps.Resources)
	}
	templates, err := a.session.ListResourceTemplates(t.Context(), nil)
	if err != nil || len(templates.ResourceTemplates) != 2 || templates.ResourceTemplates[0].URITemplate != "ken://spec/{id}" {
		t.Fatalf("templates: %+v %v", templates, err)
	}
	list, err := a.session.ListResources(t.Context(), nil)
	if err != nil || len(list.Resources) != 4 || list.TTLMs != 0 {
		t.Fatalf("resources: %+v %v", list, err)
	}
	for _, res := range list.Resources[1:] {
		words := a.resource(res.URI)
		if !strings.HasPrefix(words, "<!-- ken\nstatus: merged\n") || !strings.HasSuffix(words, "-->\n"+r.Read(filepath.Join(".spec", strings.ReplaceAll(res.Name, "größe-&-maß", "größe & maß"), "spec.md"))) {
			t.Errorf("the resource %s is %s; want the status merged and the text of the spec", res.URI, words)
		}
	}
	const composed, decomposed = "gr\u00f6\u00dfe-&-ma\u00df", "gro\u0308\u00dfe-&-ma\u00df"
	for _, uri := range []string{
		"ken://spec/" + composed, "ken://spec/" + decomposed,
		"ken://spec/gr%C3%B6%C3%9Fe-%26-ma%C3%9F", "ken://spec/gro%cc%88%c3%9fe-&-ma%c3%9f",
	} {
		if words := a.resource(uri); !strings.HasSuffix(words, "-->\nMeasures.\n") {
			t.Errorf("the resource %s is %s; want the spec about measures", uri, words)
		}
	}
	if got := a.spec(map[string]any{"id": decomposed}); got.Node.ID != composed {
		t.Errorf("by another spelling: %+v", got.Node)
	}
	for _, uri := range []string{
		"ken://spec/lexr", "ken://spec/", "ken://spec/a/b", "ken://spec/..%2F..%2Fsrc%2Flex.go", "ken://spec/%zz",
		"ken://spec/lexer?x=1", "ken://spec/lexer#x", "ken://other/lexer", "ken://spec/%00", "ken://spec/%ff",
	} {
		_, err := a.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri})
		if wire, ok := errors.AsType[*jsonrpc.Error](err); !ok || wire.Code != jsonrpc.CodeInvalidParams {
			t.Errorf("ReadResource(%q) returned the error %v; want invalid parameters", uri, err)
		}
	}
	if _, err := a.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ken://spec/lexr"}); !strings.Contains(err.Error(), "lexer") {
		t.Errorf("the error has no suggestion: %v", err)
	}
}

// A long list comes in pages, each node once.
func TestAgentPagesThroughSpecs(t *testing.T) {
	r := testrepo.New(t)
	const many = 450
	for i := range many {
		r.Write(fmt.Sprintf(".spec/n%03d/spec.md", i), "x\n")
	}
	r.Commit("many")
	a := connect(t, r)
	seen := make(map[string]bool)
	for res, err := range a.session.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		if seen[res.URI] {
			t.Errorf("%s comes twice", res.URI)
		}
		seen[res.URI] = true
	}
	if len(seen) != many+1 { // and the brief
		t.Errorf("%d of %d", len(seen), many)
	}
	if got := a.spec(nil); len(got.Nodes) != 30 || got.Omitted != many-30 || got.Counts["merged"] != many {
		t.Errorf("the list: %d nodes, %d omitted, %v", len(got.Nodes), got.Omitted, got.Counts)
	}
}

// Outside of a repository, the list is empty and reading fails with the reason.
func TestAgentOutsideARepository(t *testing.T) {
	r := testrepo.New(t)
	r.Remove(".git")
	a := connect(t, r)
	if list, err := a.session.ListResources(t.Context(), nil); err != nil || len(list.Resources) != 1 || list.Resources[0].URI != "ken://brief" {
		t.Errorf("resources: %+v %v", list, err)
	}
	_, err := a.session.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "ken://spec/lexer"})
	if err == nil || !strings.Contains(err.Error(), "not a git repository") {
		t.Errorf("reading: %v", err)
	}
	if words := a.refused("spec", nil); !strings.Contains(words, "hint: ") {
		t.Errorf("the tool: %s", words)
	}
}

// The answer is about the requested worktree, and includes the proposals of other worktrees.
func TestAgentSeesProposals(t *testing.T) {
	r := specs(t)
	side := r.Worktree("side")
	side.Write(".spec/lexer/spec.md", "Reads once.\n")
	side.Write(".spec/cache/spec.md", "Caches.\n")
	side.Commit("propose")
	a := connect(t, r)

	got := a.spec(nil)
	if !slices.Equal(got.ids()[:2], []string{"cache", "lexer"}) {
		t.Fatalf("nodes with proposals are not first: %v", got.ids())
	}
	if n := got.Nodes[1]; n.Status != "active" || len(n.Overlays) != 1 || n.Overlays[0].Op != "edited" {
		t.Errorf("a node under work: %+v", n)
	}
	if n := a.spec(map[string]any{"id": "cache"}).Node; !n.Ghost || n.Body != nil {
		t.Errorf("a node of another worktree: %+v", n)
	}
	if words := a.resource("ken://spec/lexer"); !strings.Contains(words, "\nproposed: edited in ") {
		t.Errorf("the resource: %s", words)
	}
	if n := a.spec(map[string]any{"id": "cache", "root": side.Dir}).Node; n.Ghost || n.Body == nil || *n.Body != "Caches.\n" {
		t.Errorf("the same node in the other worktree: %+v", n)
	}
	if err := os.RemoveAll(side.Dir); err != nil {
		t.Fatal(err)
	}
	if n := a.spec(map[string]any{"id": "lexer"}).Node; n.Status != "merged" {
		t.Errorf("after the worktree was removed: %+v", n)
	}
}

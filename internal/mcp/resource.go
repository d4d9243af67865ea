package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/repo"
	"ken/internal/spec"
)

// Resources are the brief, the summary of each path, and the file of each spec, by id.
const (
	briefURI      = "ken://brief"
	summaryScheme = "ken://summary/"
	specScheme    = "ken://spec/"
	markdown      = "text/markdown"
)

// private forbids caching: the answer is about the current state of one user's work
// tree.
func private() mcp.Cacheable { return mcp.Cacheable{TTLMs: 0, CacheScope: "private"} }

func (s *server) addResources(m *mcp.Server) {
	m.AddResource(&mcp.Resource{
		URI: briefURI, Name: "brief", Title: "Brief of this repository", MIMEType: markdown,
		Description: "Whether ken's knowledge is current, and the brief of the repository.",
	}, s.reader(briefText))
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "summary", Title: "Summary of a file or directory", URITemplate: summaryScheme + "{+path}", MIMEType: markdown,
		Description: "The summary of a path, after a comment with its verdict.",
	}, s.reader(summaryText))
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "spec", Title: "Spec", URITemplate: specScheme + "{id}", MIMEType: markdown,
		Description: "A spec.md file, after a comment with its status, version and drift.",
	}, s.reader(specText))
	m.AddReceivingMiddleware(escapeURIs, s.listSpecs)
}

// specURI returns the URI of a spec.
func specURI(id string) string {
	return specScheme + strings.ReplaceAll(url.QueryEscape(id), "+", "%20")
}

// specID returns the id in a URI; "" if it is not the URI of a spec.
func specID(uri string) string {
	rest, ok := strings.CutPrefix(uri, specScheme)
	if !ok || strings.ContainsAny(rest, "/?#") {
		return ""
	}
	id, err := url.PathUnescape(rest)
	if err != nil {
		return ""
	}
	return nodeID(id)
}

// summaryURI returns the URI of a summary.
func summaryURI(path string) string {
	return summaryScheme + strings.ReplaceAll(url.PathEscape(path), "%2F", "/")
}

// summaryPath returns the path in a URI; "" if it is not the URI of a summary.
func summaryPath(uri string) string {
	rest, ok := strings.CutPrefix(uri, summaryScheme)
	if path, err := url.PathUnescape(rest); ok && err == nil {
		return path
	}
	return rest
}

// escapeURIs escapes URIs that a model wrote unescaped, because templates match only
// escaped ones.
func escapeURIs(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok && p != nil {
			if id := specID(p.URI); id != "" {
				p.URI = specURI(id)
			} else if strings.HasPrefix(p.URI, summaryScheme) {
				p.URI = summaryURI(summaryPath(p.URI))
			}
		}
		return next(ctx, method, req)
	}
}

// reader returns a handler that opens the work tree where the server was started and returns what f says about a URI.
func (s *server) reader(f func(ctx context.Context, w *ken.Repository, uri string) (string, error)) mcp.ResourceHandler {
	return func(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		uri := req.Params.URI
		w, err := s.Open(ctx, "", "")
		if fault.KindOf(err) == fault.NoRepo {
			const hint = "resources belong to the work tree where the server was started; for another one, call brief or spec with root"
			return nil, notFound(uri, &fault.Error{Kind: fault.NoRepo, Hint: hint, Err: err})
		}
		if err != nil {
			return nil, withHint(err)
		}
		text, err := f(ctx, w, uri)
		if err := errors.Join(err, w.Close()); err != nil {
			if known, ok := errors.AsType[*jsonrpc.Error](err); ok {
				return nil, known
			}
			return nil, withHint(err)
		}
		return &mcp.ReadResourceResult{
			Cacheable: private(),
			Contents:  []*mcp.ResourceContents{{URI: uri, MIMEType: markdown, Text: strings.ToValidUTF8(text, "\uFFFD")}},
		}, nil
	}
}

// notFound is the error of the protocol for a missing resource.
func notFound(uri string, why error) error {
	data, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Resource not found: " + withHint(withSpecHint(why)).Error(), Data: data}
}

func briefText(ctx context.Context, w *ken.Repository, _ string) (string, error) {
	o, err := w.Briefer().Orient(ctx, 0)
	if err != nil {
		return "", err
	}
	return o.Brief, nil
}

// summaryText returns the summary of a path after its verdict.
func summaryText(ctx context.Context, w *ken.Repository, uri string) (string, error) {
	path, err := w.RootPath(summaryPath(uri))
	if err != nil {
		return "", notFound(uri, err)
	}
	files, err := w.Registry.Show(ctx, []repo.Path{path})
	if err != nil {
		return "", err
	}
	f := files[0]
	if f.CurrentID.IsZero() { // not a readable file; it may be a directory
		dirs, err := w.Survey(nil).Directories(ctx, []repo.Path{path})
		if err != nil {
			return "", err
		}
		if d := dirs[0]; d != nil {
			return withVerdict(d.Verdict.String(), d.Path, d.Reasons, d.TextOrEmpty()), nil
		}
	}
	return withVerdict(f.Verdict.String(), f.Path, f.Reasons, f.Text), nil
}

// withVerdict returns a text after a comment with its verdict.
func withVerdict(judged, path string, reasons []string, text string) string {
	v := &comment{}
	v.line("verdict", judged)
	v.line("path", path)
	if len(reasons) > 0 {
		v.line("because", line(strings.Join(reasons, ", ")))
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return v.markdown() + text
}

// specText returns the file of a spec after its verdict.
func specText(ctx context.Context, w *ken.Repository, uri string) (string, error) {
	id := specID(uri)
	_, text, err := w.Spec().Text(ctx, id)
	if _, none := errors.AsType[*spec.UnknownSpecError](err); none {
		return "", notFound(uri, err)
	}
	if err != nil {
		return "", err
	}
	l, err := w.Spec().List(ctx)
	if err != nil {
		return "", err
	}
	n := nodeIn(l, id)
	if n == nil {
		return "", errChanged
	}
	return verdictOn(l, n) + text, nil
}

// verdictOn returns the status of a spec as a Markdown comment, so that the file can
// follow it.
func verdictOn(l *spec.Listing, n *spec.ListedSpec) string {
	v := &comment{}
	status := shownStatus(n)
	if declared := n.Status.String(); status != declared {
		status += "; the spec declares " + declared
	}
	v.line("status", status)
	v.line("version", numberOr(n.Version, "unknown"))
	v.line("drift", numberOr(n.Drift, "unknown"))
	for _, f := range n.DriftFiles[:min(len(n.DriftFiles), listLimit)] {
		v.line("behind", fmt.Sprintf("%s +%d", f.File, f.Behind))
	}
	if more := len(n.DriftFiles) - listLimit; more > 0 {
		v.line("behind", fmt.Sprintf("%d more files", more))
	}
	for _, u := range append(slices.Clip(n.Unknown), l.Unknown...) {
		v.line("unknown", u.String())
	}
	if len(n.Missing) > 0 {
		v.line("missing", "no tracked file: "+line(strings.Join(n.Missing, ", ")))
	}
	for _, p := range n.Problems {
		v.line("problem", p.Message+"; "+p.Fix)
	}
	for _, o := range n.Overlays {
		v.line("proposed", fmt.Sprintf("%s in %s by %s", o.Op, o.Worktree, o.Session))
	}
	if n.Dirty != nil && *n.Dirty {
		v.line("dirty", "uncommitted changes")
	}
	v.line("path", n.Path)
	head := "no commit yet"
	if !l.Head.IsZero() {
		head = l.Head.String()
	}
	v.line("head", head)
	if n.Status == spec.StatusDrift {
		v.line("next", "compare the spec with the code; edit it if it is wrong, else call spec_ack")
	}
	return v.markdown()
}

// numberOr returns a number as text, or a word if it is nil.
func numberOr(n *int, word string) string {
	if n == nil {
		return word
	}
	return fmt.Sprint(*n)
}

// A comment is a Markdown comment with lines of name and value.
type comment struct{ strings.Builder }

func (c *comment) markdown() string { return "<!-- ken\n" + c.String() + "-->\n" }

// line adds a line. The value cannot end the line or the comment.
func (c *comment) line(name, value string) {
	value = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, value)
	value = strings.NewReplacer("-->", "-- >", "--!>", "-- !>").Replace(value)
	fmt.Fprintf(c, "%s: %s\n", name, value)
}

// specPage is the number of specs per page of the list.
const specPage = 200

// specCursor is the prefix of our cursors; the last id follows.
const specCursor = "spec:"

// listSpecs adds the specs of the work tree where the server was started to the list of
// resources. It reads only spec files.
func (s *server) listSpecs(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if method != "resources/list" {
			return next(ctx, method, req)
		}
		res := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}
		after, ours := "", false
		if p, ok := req.GetParams().(*mcp.ListResourcesParams); ok && p != nil {
			after, ours = strings.CutPrefix(p.Cursor, specCursor)
		}
		if !ours {
			got, err := next(ctx, method, req)
			if err != nil {
				return nil, err
			}
			fixed, ok := got.(*mcp.ListResourcesResult)
			if !ok || fixed.NextCursor != "" {
				return got, nil
			}
			res = fixed
			after = ""
		}
		res.Cacheable = private()
		return res, withHint(s.addSpecs(ctx, res, after))
	}
}

// addSpecs adds a page of specs, those after an id.
func (s *server) addSpecs(ctx context.Context, res *mcp.ListResourcesResult, after string) error {
	w, err := s.Open(ctx, "", "")
	if fault.KindOf(err) == fault.NoRepo {
		return nil
	}
	if err != nil {
		return err
	}
	nodes, err := w.Spec().Nodes(ctx)
	if err := errors.Join(err, w.Close()); err != nil {
		return err
	}
	nodes = slices.DeleteFunc(nodes, func(n *spec.Node) bool { return n.ID <= after })
	slices.SortFunc(nodes, func(a, b *spec.Node) int { return cmp.Compare(a.ID, b.ID) })
	if len(nodes) > specPage {
		nodes = nodes[:specPage]
		res.NextCursor = specCursor + nodes[specPage-1].ID
	}
	for _, n := range nodes {
		res.Resources = append(res.Resources, &mcp.Resource{
			URI: specURI(n.ID), Name: n.ID, Title: line(n.Title), Description: line(n.Desc), MIMEType: markdown,
		})
	}
	return nil
}

package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/spec"
)

// Resources of specs: the file of each spec, by id.
const (
	specScheme   = "ken://spec/"
	specTemplate = specScheme + "{id}"
	specMIME     = "text/markdown"
)

// private forbids caching: the answer is about the current state of one user's work
// tree.
func private() mcp.Cacheable { return mcp.Cacheable{TTLMs: 0, CacheScope: "private"} }

func (s *server) addSpecResource(m *mcp.Server) {
	m.AddResourceTemplate(&mcp.ResourceTemplate{
		Name: "spec", Title: "Spec", URITemplate: specTemplate, MIMEType: specMIME,
		Description: "A spec.md file, after a comment with its status, version and drift.",
	}, s.readSpec)
	m.AddReceivingMiddleware(escapeSpecURIs, s.listSpecs)
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

// escapeSpecURIs escapes URIs that a model wrote unescaped, because templates match
// only escaped ones.
func escapeSpecURIs(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if p, ok := req.GetParams().(*mcp.ReadResourceParams); ok && p != nil {
			if id := specID(p.URI); id != "" {
				p.URI = specURI(id)
			}
		}
		return next(ctx, method, req)
	}
}

func (s *server) readSpec(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	return s.readResource(ctx, uri, func(w *ken.Repository) (string, error) { return specText(ctx, w.Spec(), uri) })
}

// specText returns the file of a spec after its verdict.
func specText(ctx context.Context, r *spec.Reader, uri string) (string, error) {
	id := specID(uri)
	_, text, err := r.Text(ctx, id)
	if _, none := errors.AsType[*spec.UnknownSpecError](err); none {
		return "", notFound(uri, err)
	}
	if err != nil {
		return "", err
	}
	l, err := r.List(ctx)
	if err != nil {
		return "", err
	}
	n := nodeIn(l, id)
	if n == nil {
		return "", errChanged
	}
	return verdictOn(l, n) + strings.ToValidUTF8(text, "\uFFFD"), nil
}

// notFound is the error of the protocol for a missing resource.
func notFound(uri string, why error) error {
	data, err := json.Marshal(map[string]string{"uri": uri})
	if err != nil {
		return err
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Resource not found: " + withHint(withSpecHint(why)).Error(), Data: data}
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
		p, _ := req.GetParams().(*mcp.ListResourcesParams)
		res, after := &mcp.ListResourcesResult{Resources: []*mcp.Resource{}}, ""
		ours := false
		if p != nil {
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
			res, after = fixed, ""
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
			URI: specURI(n.ID), Name: n.ID, Title: line(n.Title), Description: line(n.Desc), MIMEType: specMIME,
		})
	}
	return nil
}

package uses

import (
	"ken/internal/outline"
	"ken/internal/repo"
)

type crates struct{}

func (c *crates) add(repo.Path, []byte) {}
func (c *crates) finish(*Resolver)      {}

func (r *Resolver) rustEdges(*collector)                                {}
func (r *Resolver) javaEdges(*collector)                                {}
func (r *Resolver) cEdges(*collector)                                   {}
func (r *Resolver) namedEdges(*collector)                               {}
func (r *Resolver) rustImported(*collector, outline.Import) []repo.Path { return nil }
func (r *Resolver) javaImported(*collector, outline.Import) []repo.Path { return nil }
func (r *Resolver) included(repo.Path, string) []repo.Path              { return nil }
func (r *Resolver) required(*File, string) []repo.Path                  { return nil }

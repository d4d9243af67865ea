package uses

import (
	"slices"
	"strings"

	"ken/internal/manifest"
	"ken/internal/outline"
	"ken/internal/repo"
)

// The edges of a file depend on the manifests, on the paths of the tree, and on the facts about the files of its
// family of languages. Which files a change reaches is not asked: other files pass names on, members are found
// without the name of their file, and a new file can hide another one anywhere. A change affects all files of a family
// or, if it leaves paths, manifests and facts as they were, only the changed file itself.

var families = []outline.Language{
	outline.Go, outline.TypeScript, outline.Python, outline.Rust, outline.Java, outline.C,
	outline.Ruby, outline.PHP, outline.CSharp, outline.Bash,
}

// AffectedByPath returns the families in which a file affects others by coming or going.
func AffectedByPath(p repo.Path) []outline.Language {
	if IsManifest(p) && !manifest.IsModuleConfig(p.Base()) { // such a configuration is code as well
		return AffectedByRules(p)
	}
	return slices.DeleteFunc(slices.Clone(families), func(f outline.Language) bool { return f != Family(p) && importsOnlyOwn(f) })
}

// importsOnlyOwn reports whether files of a family import no files of other languages, such as styles and data.
func importsOnlyOwn(family outline.Language) bool {
	switch family {
	case outline.Go, outline.Rust, outline.Java, outline.CSharp:
		return true
	default:
		return false
	}
}

// AffectedByRules returns the families that resolve imports by a manifest (see ManifestRules) or through a link.
func AffectedByRules(p repo.Path) []outline.Language {
	switch base := p.Base(); {
	case base == "go.mod" || base == "go.work":
		return []outline.Language{outline.Go}
	case strings.HasSuffix(base, ".json") || manifest.IsModuleConfig(p.Base()):
		return []outline.Language{outline.TypeScript}
	default:
		return families
	}
}

// AffectedByFacts returns the families of a file if others can tell two versions of it apart.
func AffectedByFacts(before, after *ParsedFile) []outline.Language {
	sameImport := func(a, b outline.Import) bool {
		return a.Module == b.Module && a.Reexport == b.Reexport && slices.Equal(a.Names, b.Names)
	}
	same := before.Language == after.Language && before.Package == after.Package &&
		slices.EqualFunc(before.Imports, after.Imports, sameImport)
	if same && slices.Equal(factsOf(before).decls, factsOf(after).decls) {
		return nil
	}
	return []outline.Language{familyOf(before.Language), familyOf(after.Language)}
}

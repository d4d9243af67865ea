package searchindex

import (
	"context"
	"path"
	"strings"

	"zombiezen.com/go/sqlite"

	"ken/internal/outline"
	"ken/internal/repo"
)

// Facts returns the language, package, symbols and imports of a file; ok is false if it is not
// indexed.
func (x *Index) Facts(ctx context.Context, p repo.Path) (o outline.Outline, imports []outline.Import, ok bool, err error) {
	var id int64
	err = x.each(ctx, `SELECT id, language, package, imports FROM facts JOIN path USING (id) WHERE path = ?1`, func(s *sqlite.Stmt) error {
		id, ok = s.ColumnInt64(0), true
		o.Language, o.Package = outline.Language(s.ColumnText(1)), s.ColumnText(2)
		var refs outline.References
		err := refs.UnmarshalBinary(bytesAt(s, 3))
		imports = refs.Imports
		return err
	}, p)
	if err != nil || !ok {
		return o, nil, ok, err
	}
	err = x.each(ctx, `SELECT `+symbolColumns+` FROM symbol WHERE file = ?1 ORDER BY place`, func(s *sqlite.Stmt) error {
		o.Symbols = append(o.Symbols, symbolAt(s))
		return nil
	}, id)
	return o, imports, ok, err
}

const symbolColumns = `symbol.name, symbol.qualified, symbol.kind, symbol.line, symbol.end_line, symbol.exported, symbol.depth, symbol.signature`

func symbolAt(s *sqlite.Stmt) outline.Symbol {
	return outline.Symbol{
		Name: s.ColumnText(0), Qualified: s.ColumnText(1), Kind: outline.Kind(s.ColumnText(2)),
		Line: s.ColumnInt(3), EndLine: s.ColumnInt(4), Exported: s.ColumnBool(5), Depth: s.ColumnInt(6), Signature: s.ColumnText(7),
	}
}

// A Declaration is a symbol with the file that declares it.
type Declaration struct {
	Path   repo.Path
	Symbol outline.Symbol
}

// Declarations returns the declarations of a name.
func (x *Index) Declarations(ctx context.Context, name string) (list []Declaration, err error) {
	err = x.each(ctx, `
		SELECT `+symbolColumns+`, path.path FROM symbol JOIN path ON path.id = symbol.file
		WHERE symbol.name = ?1 ORDER BY path.path, symbol.line`, func(s *sqlite.Stmt) error {
		list = append(list, Declaration{repo.Path(s.ColumnText(8)), symbolAt(s)})
		return nil
	}, name)
	return list, err
}

// SymbolNames returns the names of declared symbols whose length is between two numbers of bytes, each once.
func (x *Index) SymbolNames(ctx context.Context, shortest, longest int) (names []string, err error) {
	err = x.each(ctx, `SELECT DISTINCT name FROM symbol WHERE length(name) BETWEEN ?1 AND ?2 ORDER BY name`, func(s *sqlite.Stmt) error {
		names = append(names, s.ColumnText(0))
		return nil
	}, shortest, longest)
	return names, err
}

// Importers returns the files with an import that ends in one of the names.
func (x *Index) Importers(ctx context.Context, names []string) (list []repo.Path, err error) {
	for _, name := range names {
		some, err := x.paths(ctx, `SELECT path FROM wanted JOIN path ON path.id = wanted.file WHERE name = ?1`, strings.ToLower(name))
		if err != nil {
			return nil, err
		}
		list = append(list, some...)
	}
	return list, nil
}

// importedNames returns the names of files and directories that imports may refer to.
func importedNames(imports []outline.Import) []string {
	var names []string
	for _, im := range imports {
		// The last part may be the name, as in pkg.name, or an extension, as in ./name.js.
		without := strings.TrimSuffix(im.Module, path.Ext(im.Module))
		for _, module := range []string{im.Module, without} {
			names = append(names, strings.ToLower(lastName(module)))
		}
		for _, b := range im.Names {
			if b.Name != "" && b.Name != "*" && b.Name != "default" {
				names = append(names, strings.ToLower(b.Name))
			}
		}
	}
	return names
}

// lastName returns the last part of a module's name.
func lastName(module string) string {
	fields := strings.FieldsFunc(module, func(r rune) bool { return strings.ContainsRune(`/.:\\`, r) })
	if len(fields) == 0 {
		return module
	}
	return fields[len(fields)-1]
}

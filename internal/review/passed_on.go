package review

import (
	"ken/internal/outline"
	"ken/internal/usage"
)

// addPassedOn adds the mentions of names that an index file or an __init__.py no longer passes on.
func (u *unsureMentions) addPassedOn() error {
	u.search.Only = u.wasThere
	for i := range u.Change.Files {
		f := &u.Change.Files[i]
		names, err := usage.NotPassedOn(u.ctx, u.Index, f)
		if err != nil {
			return err
		}
		for _, name := range names {
			if !u.allows("names that files passed on") {
				continue
			}
			found, err := u.search.Of(f.OldPath(), &outline.Symbol{Kind: outline.Func, Name: name, Exported: true})
			if err != nil {
				return err
			}
			u.add(found, f.OldPath(), name)
		}
	}
	return nil
}

package contract

import "sync"

//go:generate go test -run ^TestCompiled$ -update .
//go:generate go test -run ^TestInventory$ -update .

// Default returns the default contract. It is default.yaml, compiled into Go by go
// generate: parsing the YAML would take several milliseconds in every run.
func Default() *Contract { return defaultContract() }

var defaultContract = sync.OnceValue(compiled)

// ByRole returns the file with a role. It panics if there is none: every contract has
// a file for each role.
func (c *Contract) ByRole(r Role) File {
	for _, f := range c.Files {
		if f.Role == r && r != "" {
			return f
		}
	}
	panic("contract: no file has the role " + string(r))
}

// Name returns the name of the file with a role.
func (c *Contract) Name(r Role) string { return c.ByRole(r).Name }

// File returns the canonical file of that name.
func (c *Contract) File(name string) (File, bool) {
	i, ok := c.names()[name]
	if !ok {
		return File{}, false
	}
	return c.Files[i], true
}

// Key returns the known key of that name.
func (c *Contract) Key(name string) (Key, bool) {
	for _, k := range c.Keys {
		if k.Name == name {
			return k, true
		}
	}
	return Key{}, false
}

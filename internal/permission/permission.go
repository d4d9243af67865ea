// Package permission checks whether the user has allowed what the configuration of a repository asks for: to contact the
// store of a team, or a provider of models. It lists, adds and removes permissions.
//
// Package allow has the types and the texts; store/local keeps the permissions in the user's own directory, where no
// repository can write.
package permission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/allow"
	"ken/internal/fault"
	"ken/internal/model"
	"ken/internal/model/provider"
	"ken/internal/store/local"
	"ken/internal/store/postgres"
)

// A Checker checks the requests of one repository.
type Checker struct {
	Repository string                 // the path of the git directory that all work trees share
	Store      string                 // the team's store that the configuration names; "" for none
	UserStore  string                 // the team's store that the user names; "" for Store
	Prices     map[string]model.Price // those in the configuration
	Allowed    local.Allowed
	// Provider returns the provider and the model that the user means, or those in the configuration for "".
	Provider func(userProvider, userModel string) provider.Config
}

// storeRequest returns the request for the store that the configuration names. ok is false
// if the user names the store, or if no store is named.
func (c Checker) storeRequest() (r allow.Request, ok bool, err error) {
	if c.UserStore != "" || c.Store == "" {
		return r, false, nil
	}
	at, err := postgres.ParseFromConfig(c.Store)
	if err != nil {
		return r, false, err
	}
	return allow.Request{Repository: c.Repository, For: allow.Store, Address: at.Canonical()}, true, nil
}

// CheckStore returns the error for a store that the user has not allowed, nil for one
// that ken may contact.
func (c Checker) CheckStore() (refused, err error) {
	r, ok, err := c.storeRequest()
	if err != nil || !ok || c.Allowed.Has(r) {
		return nil, err
	}
	return r.Refuse("the address"), nil
}

// providerRequest returns the request for a provider of models, and lists what only the
// configuration names: nothing if the user names all of it. userProvider and userModel are
// those that the user names, "" for none.
func (c Checker) providerRequest(cfg provider.Config, userProvider, userModel string) (r allow.Request, names []string, err error) {
	if cfg.Provider != provider.Anthropic && cfg.Provider != provider.OpenAI {
		return r, nil, nil
	}
	at, err := provider.Locate(cfg, provider.Options{})
	if err != nil {
		return r, nil, err
	}
	r = allow.Request{Repository: c.Repository, For: cfg.Provider, Address: at.Address, Key: at.Key, Prices: c.prices()}
	if userProvider == "" {
		names = append(names, "the provider")
	}
	if userModel == "" && cfg.Model != "" {
		r.Model = cfg.Model
		names = append(names, "the model")
	}
	if r.Prices != "" {
		names = append(names, "prices")
	}
	if !at.Given {
		names = append(names, "the address")
	}
	return r, names, nil
}

// prices prints the prices in the configuration. ken counts --max-cost by them.
func (c Checker) prices() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(c.Prices)) {
		p := c.Prices[name]
		list = append(list, fmt.Sprintf("%s %g %g %g %g", name, p.Input, p.Cached, p.Written, p.Output))
	}
	return strings.Join(list, "; ")
}

// CheckProvider returns an error for a provider that the user has neither named nor allowed.
// It marks cfg as allowed otherwise.
func (c Checker) CheckProvider(cfg *provider.Config, userProvider, userModel string) error {
	r, names, err := c.providerRequest(*cfg, userProvider, userModel)
	if err != nil || len(names) == 0 {
		return err
	}
	if !c.Allowed.Has(r) {
		return r.Refuse(names...)
	}
	cfg.Allowed = true
	return nil
}

// List lists what the configuration asks for and every permission that the user gave
// this repository, sorted by address. If the configuration names an address that cannot be
// parsed, the error comes with the rest of the list.
func (c Checker) List() ([]allow.Permission, error) {
	kept, err := c.Allowed.List(c.Repository)
	if err != nil {
		return nil, err
	}
	named, err := c.requests()
	var list []allow.Permission
	for _, r := range named {
		if !slices.Contains(kept, r) {
			list = append(list, allow.Permission{Request: r, State: allow.Waiting})
		}
	}
	asked := append(c.otherRequests(), named...)
	for _, r := range kept {
		state := allow.Unused
		if slices.Contains(asked, r) {
			state = allow.Allowed
		}
		list = append(list, allow.Permission{Request: r, State: state})
	}
	slices.SortFunc(list, byAddress)
	return list, err
}

// requests lists what the configuration asks for if the user names nothing.
func (c Checker) requests() ([]allow.Request, error) {
	var list []allow.Request
	r, ok, err := c.storeRequest()
	if err != nil {
		return nil, err
	}
	if ok {
		list = append(list, r)
	}
	r, names, err := c.providerRequest(c.Provider("", ""), "", "")
	if err == nil && len(names) > 0 {
		list = append(list, r)
	}
	return list, err
}

// otherRequests lists what the configuration asks for if the user names a provider, with or
// without a model.
func (c Checker) otherRequests() []allow.Request {
	var list []allow.Request
	for _, name := range []string{provider.Anthropic, provider.OpenAI} {
		for _, model := range []string{"", "any"} {
			r, names, err := c.providerRequest(c.Provider(name, model), name, model)
			if len(names) > 0 && err == nil { // the commands that use it refuse an address that cannot be parsed
				list = append(list, r)
			}
		}
	}
	return list
}

// Allow allows every request of the configuration for an address, and returns the
// permissions.
func (c Checker) Allow(address string) ([]allow.Permission, error) {
	named, err := c.requests()
	if err != nil {
		return nil, err
	}
	address = fullAddress(address)
	var list []allow.Permission
	for _, r := range append(named, c.otherRequests()...) {
		p := allow.Permission{Request: r, State: allow.Allowed}
		if r.Address != address || slices.Contains(list, p) {
			continue
		}
		if err := c.Allowed.Add(r); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "list the addresses that it names: ken allow",
			Err: fmt.Errorf(".ken/config.yaml does not name %s", address),
		}
	}
	return list, nil
}

// Withdraw takes back every permission for an address, and returns them.
func (c Checker) Withdraw(address string) ([]allow.Permission, error) {
	kept, err := c.Allowed.List(c.Repository)
	if err != nil {
		return nil, err
	}
	address = fullAddress(address)
	var list []allow.Permission
	for _, r := range kept {
		if r.Address != address {
			continue
		}
		if err := c.Allowed.Remove(r); err != nil {
			return nil, err
		}
		list = append(list, allow.Permission{Request: r, State: allow.Withdrawn})
	}
	if len(list) == 0 {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "list what you allowed: ken allow",
			Err: fmt.Errorf("you have not allowed %s in this repository", address),
		}
	}
	slices.SortFunc(list, byAddress)
	return list, nil
}

// fullAddress spells the address of a store as permissions do, with the settings that
// people leave out. Other addresses stay as they are.
func fullAddress(address string) string {
	at, err := postgres.Parse(address)
	if err != nil {
		return address
	}
	return at.Canonical()
}

func byAddress(a, b allow.Permission) int {
	return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.For, b.For), cmp.Compare(b.Model, a.Model), cmp.Compare(a.Prices, b.Prices))
}

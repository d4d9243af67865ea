package permission

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ken/internal/fault"
	"ken/internal/model"
	"ken/internal/model/provider"
	"ken/internal/store/postgres"
)

// A Checker checks the requests of one repository.
type Checker struct {
	Repository string                 // the path of the git directory that all work trees share
	Store      string                 // the team's store that the configuration names; "" for none
	UserStore  string                 // the team's store that the user names; "" for Store
	Prices     map[string]model.Price // those in the configuration
	StateDir   string                 // the state directory of the user, with the permissions; "" allows nothing
	// Provider returns the provider and the model that the user means, or those in the configuration for "".
	Provider func(userProvider, userModel string) provider.Config
}

// storeRequest returns the request for the store that the configuration names. ok is false
// if the user names the store, or if no store is named.
func (c Checker) storeRequest() (r Request, ok bool, err error) {
	if c.UserStore != "" || c.Store == "" {
		return r, false, nil
	}
	at, err := postgres.ParseFromConfig(c.Store)
	if err != nil {
		return r, false, err
	}
	return Request{Repository: c.Repository, For: Store, Address: at.Canonical()}, true, nil
}

// CheckStore returns the error for a store that the user has not allowed, nil for one
// that ken may contact.
func (c Checker) CheckStore() (refused, err error) {
	r, ok, err := c.storeRequest()
	if err != nil || !ok || c.has(r) {
		return nil, err
	}
	return r.Refuse("the address"), nil
}

// providerRequest returns the request for a provider of models, and lists what only the
// configuration names: nothing if the user names all of it. userProvider and userModel are
// those that the user names, "" for none.
func (c Checker) providerRequest(cfg provider.Config, userProvider, userModel string) (r Request, names []string, err error) {
	if cfg.Provider != provider.Anthropic && cfg.Provider != provider.OpenAI {
		return r, nil, nil
	}
	at, err := provider.Locate(cfg, provider.Options{})
	if err != nil {
		return r, nil, err
	}
	r = Request{Repository: c.Repository, For: cfg.Provider, Address: at.Address, Key: at.Key, Prices: c.prices()}
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
	if !c.has(r) {
		return r.Refuse(names...)
	}
	cfg.Allowed = true
	return nil
}

// List lists what the configuration asks for and every permission that the user gave
// this repository, sorted by address. If the configuration names an address that cannot be
// parsed, the error comes with the rest of the list.
func (c Checker) List() ([]Permission, error) {
	kept, err := c.list()
	if err != nil {
		return nil, err
	}
	named, err := c.requests()
	var list []Permission
	for _, r := range named {
		if !slices.Contains(kept, r) {
			list = append(list, Permission{Request: r, State: Waiting})
		}
	}
	asked := append(c.otherRequests(), named...)
	for _, r := range kept {
		state := Unused
		if slices.Contains(asked, r) {
			state = Allowed
		}
		list = append(list, Permission{Request: r, State: state})
	}
	slices.SortFunc(list, byAddress)
	return list, err
}

// requests lists what the configuration asks for if the user names nothing.
func (c Checker) requests() ([]Request, error) {
	var list []Request
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
func (c Checker) otherRequests() []Request {
	var list []Request
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
func (c Checker) Allow(address string) ([]Permission, error) {
	named, err := c.requests()
	if err != nil {
		return nil, err
	}
	address = fullAddress(address)
	var list []Permission
	for _, r := range append(named, c.otherRequests()...) {
		p := Permission{Request: r, State: Allowed}
		if r.Address != address || slices.Contains(list, p) {
			continue
		}
		if err := c.add(r); err != nil {
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
func (c Checker) Withdraw(address string) ([]Permission, error) {
	kept, err := c.list()
	if err != nil {
		return nil, err
	}
	address = fullAddress(address)
	var list []Permission
	for _, r := range kept {
		if r.Address != address {
			continue
		}
		if err := c.remove(r); err != nil {
			return nil, err
		}
		list = append(list, Permission{Request: r, State: Withdrawn})
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

func byAddress(a, b Permission) int {
	return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.For, b.For), cmp.Compare(b.Model, a.Model), cmp.Compare(a.Prices, b.Prices))
}

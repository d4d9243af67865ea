package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"ken/internal/allow"
	"ken/internal/fault"
	"ken/internal/model/provider"
	"ken/internal/store/local"
	"ken/internal/store/postgres"
)

// allowed opens the permissions of the user.
func allowed() local.Allowed { return local.OpenAllowed(stateDir()) }

// storeRequest returns the request for the store that the configuration names. ok is false
// if the user names the store, or if no store is named.
func (w *workspace) storeRequest() (r allow.Request, ok bool, err error) {
	if os.Getenv(storeVariable) != "" || w.cfg.Team.Store == "" {
		return r, false, nil
	}
	at, err := postgres.ParseNamed(w.cfg.Team.Store)
	if err != nil {
		return r, false, err
	}
	return allow.Request{Repository: w.git.CommonDir(), For: allow.Store, Address: at.Agreement()}, true, nil
}

// storeRefused returns the error for a store that the user has not allowed, nil for one
// that ken may contact.
func (w *workspace) storeRefused() (refused, err error) {
	r, ok, err := w.storeRequest()
	if err != nil || !ok || allowed().Has(r) {
		return nil, err
	}
	return r.Refuse("the address"), nil
}

// providerRequest returns the request for a provider of models, and lists what only the
// configuration names: nothing if the user names all of it. userProvider and userModel are
// those that the user names, "" for none.
func (w *workspace) providerRequest(cfg provider.Config, userProvider, userModel string) (r allow.Request, names []string, err error) {
	if cfg.Provider != provider.Anthropic && cfg.Provider != provider.OpenAI {
		return r, nil, nil
	}
	at, err := provider.Locate(cfg, provider.Options{})
	if err != nil {
		return r, nil, err
	}
	r = allow.Request{Repository: w.git.CommonDir(), For: cfg.Provider, Address: at.Address, Key: at.Key, Prices: w.prices()}
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
func (w *workspace) prices() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(w.cfg.Survey.Prices)) {
		p := w.cfg.Survey.Prices[name]
		list = append(list, fmt.Sprintf("%s %g %g %g %g", name, p.Input, p.Cached, p.Written, p.Output))
	}
	return strings.Join(list, "; ")
}

// checkProvider returns an error for a provider that the user has neither named nor allowed.
// It marks cfg as allowed otherwise.
func (w *workspace) checkProvider(cfg *provider.Config, userProvider, userModel string) error {
	r, names, err := w.providerRequest(*cfg, userProvider, userModel)
	if err != nil || len(names) == 0 {
		return err
	}
	if !allowed().Has(r) {
		return r.Refuse(names...)
	}
	cfg.Allowed = true
	return nil
}

// Addresses lists what the configuration asks for and every permission that the user gave
// this repository, sorted by address. If the configuration names an address that cannot be
// parsed, the error comes with the rest of the list.
func (w *workspace) Addresses(ctx context.Context) ([]allow.Permission, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	kept, err := allowed().List(w.git.CommonDir())
	if err != nil {
		return nil, err
	}
	named, err := w.requests()
	var list []allow.Permission
	for _, r := range named {
		if !slices.Contains(kept, r) {
			list = append(list, allow.Permission{Request: r, State: allow.Waiting})
		}
	}
	asked := append(w.otherRequests(), named...)
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
func (w *workspace) requests() ([]allow.Request, error) {
	var list []allow.Request
	r, ok, err := w.storeRequest()
	if err != nil {
		return nil, err
	}
	if ok {
		list = append(list, r)
	}
	r, names, err := w.providerRequest(w.provider("", ""), "", "")
	if err == nil && len(names) > 0 {
		list = append(list, r)
	}
	return list, err
}

// otherRequests lists what the configuration asks for if the user names a provider, with or
// without a model.
func (w *workspace) otherRequests() []allow.Request {
	var list []allow.Request
	for _, name := range []string{provider.Anthropic, provider.OpenAI} {
		for _, model := range []string{"", "any"} {
			r, names, err := w.providerRequest(w.provider(name, model), name, model)
			if len(names) > 0 && err == nil { // the commands that use it refuse an address that cannot be parsed
				list = append(list, r)
			}
		}
	}
	return list
}

// Allow allows every request of the configuration for an address, and returns the
// permissions.
func (w *workspace) Allow(ctx context.Context, address string) ([]allow.Permission, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	named, err := w.requests()
	if err != nil {
		return nil, err
	}
	address = fullAddress(address)
	var list []allow.Permission
	for _, r := range append(named, w.otherRequests()...) {
		p := allow.Permission{Request: r, State: allow.Allowed}
		if r.Address != address || slices.Contains(list, p) {
			continue
		}
		if err := allowed().Add(r); err != nil {
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
func (w *workspace) Withdraw(_ context.Context, address string) ([]allow.Permission, error) {
	kept, err := allowed().List(w.git.CommonDir())
	if err != nil {
		return nil, err
	}
	address = fullAddress(address)
	var list []allow.Permission
	for _, r := range kept {
		if r.Address != address {
			continue
		}
		if err := allowed().Remove(r); err != nil {
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
	return at.Agreement()
}

func byAddress(a, b allow.Permission) int {
	return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.For, b.For), cmp.Compare(b.Model, a.Model), cmp.Compare(a.Prices, b.Prices))
}

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

// allowed is what the user has allowed repositories to contact.
func allowed() local.Allowed { return local.OpenAllowed(stateDir()) }

// storeRequest returns what the configuration asks for with the address of a store; ok is false
// where the user names the store, or nobody does.
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

// storeRefused says why the store must not be contacted, nil when it may be.
func (w *workspace) storeRefused() (refused, err error) {
	r, ok, err := w.storeRequest()
	if err != nil || !ok || allowed().Has(r) {
		return nil, err
	}
	return r.Refuse("the address"), nil
}

// providerRequest returns what the configuration asks for where a model is asked, and what of
// it only the configuration names: nothing when the user has named it all. Named and called are
// the provider and the model that the user names, "" where the configuration does.
func (w *workspace) providerRequest(cfg provider.Config, named, called string) (r allow.Request, names []string, err error) {
	if cfg.Provider != provider.Anthropic && cfg.Provider != provider.OpenAI {
		return r, nil, nil
	}
	at, err := provider.Locate(cfg, provider.Options{})
	if err != nil {
		return r, nil, err
	}
	r = allow.Request{Repository: w.git.CommonDir(), For: cfg.Provider, Address: at.Address, Key: at.Key, Prices: w.prices()}
	if named == "" {
		names = append(names, "the provider")
	}
	if called == "" && cfg.Model != "" {
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

// prices spells out the prices that the configuration gives: a limit in dollars is counted by them.
func (w *workspace) prices() string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(w.cfg.Survey.Prices)) {
		p := w.cfg.Survey.Prices[name]
		list = append(list, fmt.Sprintf("%s %g %g %g %g", name, p.Input, p.Cached, p.Written, p.Output))
	}
	return strings.Join(list, "; ")
}

// checkProvider refuses to ask a model on the configuration's word, unless the user has allowed
// that. Otherwise cfg may be used.
func (w *workspace) checkProvider(cfg *provider.Config, named, called string) error {
	r, names, err := w.providerRequest(*cfg, named, called)
	if err != nil || len(names) == 0 {
		return err
	}
	if !allowed().Has(r) {
		return r.Refuse(names...)
	}
	cfg.Allowed = true
	return nil
}

// Addresses lists what the configuration asks for, and what the user has allowed this repository,
// by address. What the configuration says may be an error, which comes with the rest.
func (w *workspace) Addresses(ctx context.Context) ([]allow.Standing, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	kept, err := allowed().List(w.git.CommonDir())
	if err != nil {
		return nil, err
	}
	named, err := w.requests()
	var list []allow.Standing
	for _, r := range named {
		list = append(list, allow.Standing{Request: r, Named: true, Allowed: slices.Contains(kept, r)})
	}
	could := append(w.otherRequests(), named...)
	for _, r := range kept {
		listed := slices.ContainsFunc(list, func(s allow.Standing) bool { return s.Allowed && s.For == r.For && s.Address == r.Address })
		if !listed {
			list = append(list, allow.Standing{Request: r, Named: slices.Contains(could, r), Allowed: true})
		}
	}
	slices.SortFunc(list, func(a, b allow.Standing) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.For, b.For), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Prices, b.Prices))
	})
	return list, err
}

// requests are what the configuration asks for where the user names nothing.
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

// otherRequests are what the configuration asks for where the user names a provider, with a
// model or without.
func (w *workspace) otherRequests() []allow.Request {
	var list []allow.Request
	for _, name := range []string{provider.Anthropic, provider.OpenAI} {
		for _, model := range []string{"", "any"} {
			r, names, err := w.providerRequest(w.provider(name, model), name, model)
			if len(names) > 0 && err == nil { // an address that cannot be read is refused wherever it is used
				list = append(list, r)
			}
		}
	}
	return list
}

// Allow lets the configuration contact an address that it names, and returns what that means.
func (w *workspace) Allow(ctx context.Context, address string) ([]allow.Standing, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	named, err := w.requests()
	if err != nil {
		return nil, err
	}
	if at, err := postgres.Parse(address); err == nil {
		address = at.Agreement() // as people write it
	}
	var list []allow.Standing
	for _, r := range append(named, w.otherRequests()...) {
		if r.Address != address {
			continue
		}
		if err := allowed().Add(r); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(s allow.Standing) bool { return s.For == r.For }) {
			list = append(list, allow.Standing{Request: r, Named: true, Allowed: true})
		}
	}
	if len(list) == 0 {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "see what it names: ken allow",
			Err: fmt.Errorf(".ken/config.yaml does not name %s", address),
		}
	}
	return list, nil
}

// Withdraw takes back that the configuration may contact an address, and returns what was allowed.
func (w *workspace) Withdraw(_ context.Context, address string) ([]allow.Standing, error) {
	kept, err := allowed().List(w.git.CommonDir())
	if err != nil {
		return nil, err
	}
	if at, err := postgres.Parse(address); err == nil {
		address = at.Agreement()
	}
	var list []allow.Standing
	for _, r := range kept {
		if r.Address != address {
			continue
		}
		if err := allowed().Remove(r); err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(list, func(s allow.Standing) bool { return s.For == r.For }) {
			list = append(list, allow.Standing{Request: r})
		}
	}
	if len(list) == 0 {
		return nil, &fault.Error{
			Kind: fault.Usage, Hint: "see what you allowed: ken allow",
			Err: fmt.Errorf("you have not allowed %s here", address),
		}
	}
	return list, nil
}

package ken

import (
	"context"
	"os"

	"ken/internal/model/provider"
	"ken/internal/permission"
)

// permissions checks what the configuration may contact.
func (r *Repository) permissions() permission.Checker {
	return permission.Checker{
		Repository: r.Git.CommonDir(),
		Store:      r.Config.Store,
		Prices:     r.Config.Survey.Prices,
		UserStore:  os.Getenv(storeVariable),
		StateDir:   StateDir(),
		Provider:   r.Provider,
	}
}

// CheckProvider returns an error for a provider that the user has neither named nor allowed, and marks cfg as allowed
// otherwise.
func (r *Repository) CheckProvider(cfg *provider.Config, userProvider, userModel string) error {
	return r.permissions().CheckProvider(cfg, userProvider, userModel)
}

// Addresses lists what the configuration asks for and what the user has allowed.
func (r *Repository) Addresses(ctx context.Context) ([]permission.Permission, error) {
	if err := r.configOfHead(ctx); err != nil {
		return nil, err
	}
	return r.permissions().List()
}

// Allow allows an address, and returns the new permissions.
func (r *Repository) Allow(ctx context.Context, address string) ([]permission.Permission, error) {
	if err := r.configOfHead(ctx); err != nil {
		return nil, err
	}
	return r.permissions().Allow(address)
}

// Withdraw takes the permissions for an address back, and returns them.
func (r *Repository) Withdraw(_ context.Context, address string) ([]permission.Permission, error) {
	return r.permissions().Withdraw(address)
}

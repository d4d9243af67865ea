package ken

import (
	"context"
	"os"

	"ken/internal/allow"
	"ken/internal/model/provider"
	"ken/internal/permission"
	"ken/internal/store/local"
)

// permissions checks what the configuration may contact.
func (w *Repository) permissions() permission.Checker {
	return permission.Checker{
		Repository: w.Git.CommonDir(),
		Config:     w.Config,
		UserStore:  os.Getenv(storeVariable),
		Allowed:    local.OpenAllowed(StateDir()),
		Provider:   w.Provider,
	}
}

// CheckProvider returns an error for a provider that the user has neither named nor allowed, and marks cfg as allowed
// otherwise.
func (w *Repository) CheckProvider(cfg *provider.Config, userProvider, userModel string) error {
	return w.permissions().CheckProvider(cfg, userProvider, userModel)
}

// Addresses lists what the configuration asks for and what the user has allowed.
func (w *Repository) Addresses(ctx context.Context) ([]allow.Permission, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	return w.permissions().List()
}

// Allow allows an address, and returns the new permissions.
func (w *Repository) Allow(ctx context.Context, address string) ([]allow.Permission, error) {
	if err := w.configOfHead(ctx); err != nil {
		return nil, err
	}
	return w.permissions().Allow(address)
}

// Withdraw takes the permissions for an address back, and returns them.
func (w *Repository) Withdraw(_ context.Context, address string) ([]allow.Permission, error) {
	return w.permissions().Withdraw(address)
}

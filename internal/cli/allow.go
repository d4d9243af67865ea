package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"ken/internal/fault"
	"ken/internal/ken"
	"ken/internal/permission"
	"ken/internal/term"
)

func (p *program) allow() *cobra.Command {
	var withdraw bool
	c := &cobra.Command{
		Use:   "allow [ADDRESS]",
		Short: "Allow ken to contact an address that .ken/config.yaml names",
		Long: `Anybody may have written the configuration of a repository. ken sends no password,
key or file contents to an address that only the configuration names, and spends no
money there, until you allow the address. ken asks again when the configuration
changes the address, the model or its prices, and when the repository moves.

Without ADDRESS, ken lists the addresses in the configuration and your permissions.
An address that you name yourself needs no permission: KEN_STORE, ANTHROPIC_BASE_URL,
OPENAI_BASE_URL, --provider with --model.`,
		Example: `  ken allow   # list the addresses in .ken/config.yaml and your permissions`,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			address := argument(args)
			if withdraw && address == "" {
				return usageError(c, errors.New("--withdraw: no address given"))
			}
			w, err := ken.OpenAllowBare(c.Context(), p.dir)
			if err != nil {
				return err
			}
			list, err := addresses(c.Context(), w, address, withdraw)
			if err := errors.Join(err, w.Close()); err != nil {
				return err
			}
			return p.printAddresses(list, address == "")
		},
	}
	c.Flags().BoolVar(&withdraw, "withdraw", false, "take the permission for ADDRESS back")
	return c
}

func addresses(ctx context.Context, w *ken.Repository, address string, withdraw bool) ([]permission.Permission, error) {
	switch {
	case address == "":
		return w.Addresses(ctx)
	case withdraw:
		return w.Withdraw(ctx, address)
	}
	return w.Allow(ctx, address)
}

// An addressJSON is a permission, or a request that waits for one.
type addressJSON struct {
	State   string `json:"state"` // an [permission.State]
	For     string `json:"for"`
	Address string `json:"address"`
	Model   string `json:"model,omitempty"`
	Sends   string `json:"sends"`
}

func describeAddresses(list []permission.Permission) []addressJSON {
	out := make([]addressJSON, len(list))
	for i, s := range list {
		out[i] = addressJSON{State: string(s.State), For: s.For, Address: s.Address, Model: s.Model, Sends: s.Sends()}
	}
	return out
}

// printAddresses prints permissions, with hints on how to allow those that wait.
func (p *program) printAddresses(list []permission.Permission, hints bool) error {
	if p.io.JSON {
		return p.io.Encode(struct {
			Addresses []addressJSON `json:"addresses"`
		}{describeAddresses(list)})
	}
	if len(list) == 0 {
		p.io.Printf(".ken/config.yaml names no address\n")
	}
	p.io.Buffered(func() {
		for _, s := range list {
			p.io.Line(addressTone(s), string(s.State), s.Address, s.For+": "+s.Sends())
		}
	})
	for _, s := range list {
		if hints && s.State == permission.Waiting {
			p.io.Remarkf("hint: if you trust it: ken allow %s", term.Clean(fault.Quote(s.Address)))
		}
	}
	return nil
}

func addressTone(s permission.Permission) term.Tone {
	if s.State == permission.Allowed {
		return term.Good
	}
	return term.Warn
}

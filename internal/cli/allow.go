package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"ken/internal/allow"
	"ken/internal/fault"
	"ken/internal/term"
)

// An AddressSpace is a repository, as far as it matters what its configuration may contact.
type AddressSpace interface {
	// Addresses lists what the configuration asks to contact, and what the user has allowed.
	Addresses(ctx context.Context) ([]allow.Standing, error)
	// Allow lets the configuration contact an address, and returns what that means.
	Allow(ctx context.Context, address string) ([]allow.Standing, error)
	// Withdraw takes that back, and returns what was allowed.
	Withdraw(ctx context.Context, address string) ([]allow.Standing, error)
	Close() error
}

func (p *program) allow() *cobra.Command {
	var withdraw bool
	c := &cobra.Command{
		Use:   "allow [ADDRESS]",
		Short: "Allow ken to contact an address that .ken/config.yaml names",
		Long: `A configuration comes with the repository, so anybody may have written it. ken sends
no password, key or file contents to an address that only the configuration names,
and spends no money there, until you allow it. ken asks again when the configuration
changes the address, the model or its prices.

Without ADDRESS it lists what the configuration names and what you have allowed.
An address that you name yourself needs no permission: KEN_STORE, ANTHROPIC_BASE_URL,
OPENAI_BASE_URL, --provider with --model.`,
		Example: `  ken allow                                     # list the addresses
  ken allow postgres://ken@db.example.com/ken   # allow one, in this repository
  ken allow --withdraw https://api.openai.com/v1`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			address := argument(args)
			if withdraw && address == "" {
				return usage(c, errors.New("--withdraw needs an address"))
			}
			w, err := p.OpenAddresses(c.Context(), p.dir)
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
	c.Flags().BoolVar(&withdraw, "withdraw", false, "no longer allow ADDRESS")
	return c
}

func addresses(ctx context.Context, w AddressSpace, address string, withdraw bool) ([]allow.Standing, error) {
	switch {
	case address == "":
		return w.Addresses(ctx)
	case withdraw:
		return w.Withdraw(ctx, address)
	}
	return w.Allow(ctx, address)
}

// An addressJSON is an address that a configuration names, and the user's answer.
type addressJSON struct {
	State   string `json:"state"` // allowed, waiting, or unused when the configuration names it no longer
	For     string `json:"for"`
	Address string `json:"address"`
	Model   string `json:"model,omitempty"`
	Sends   string `json:"sends"`
}

func describeAddresses(list []allow.Standing) []addressJSON {
	out := make([]addressJSON, len(list))
	for i, s := range list {
		out[i] = addressJSON{State: s.Word(), For: s.For, Address: s.Address, Model: s.Model, Sends: s.Sends()}
	}
	return out
}

// printAddresses lists addresses. The hints are for who asked for the list.
func (p *program) printAddresses(list []allow.Standing, hints bool) error {
	if p.io.JSON {
		return p.io.Encode(struct {
			Addresses []addressJSON `json:"addresses"`
		}{describeAddresses(list)})
	}
	if len(list) == 0 {
		p.io.Printf(".ken/config.yaml names no address\n")
	}
	p.io.Together(func() {
		for _, s := range list {
			p.io.Line(addressTone(s), s.Word(), s.Address, s.For+": "+s.Sends())
		}
	})
	for _, s := range list {
		if hints && !s.Allowed {
			p.io.Remarkf("hint: if you trust it: ken allow %s", term.Clean(fault.Quote(s.Address)))
		}
	}
	return nil
}

func addressTone(s allow.Standing) term.Tone {
	if s.Allowed {
		return term.Good
	}
	return term.Warn
}

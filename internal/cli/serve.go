package cli

import (
	"errors"
	"net"
	"strconv"

	"github.com/spf13/cobra"
)

// ServeOptions says where and how a dashboard is served.
type ServeOptions struct {
	Addr     string
	Hosts    []string // names that it may be asked under besides
	NewToken bool
	// Ready hears where it can be reached.
	Ready func(Serving)
}

// Serving is where a dashboard can be reached.
type Serving struct {
	URL   string `json:"url"`  // with the token, which opens everything
	Addr  string `json:"addr"` // that it listens on
	Local bool   `json:"local"`
}

// anyPort is where the dashboard listens unless told otherwise: on this machine alone.
const anyPort = "127.0.0.1:0"

func (p *program) serve() *cobra.Command {
	var opts ServeOptions
	var port uint16
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show the board in a browser, live",
		Long: `Serves the dashboard until it is interrupted, and prints its address: specs, a map
of what is known, the state directory and worktrees. A commit, an edit or a
directory that was described shows within a second.

It listens on this machine alone. Whoever is on it may look; writing, and MCP at
/mcp, take the token that the printed address carries. On any other address
everything takes the token.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("port") {
				if c.Flags().Changed("addr") {
					return usage(c, errors.New("use either --addr or --port"))
				}
				opts.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
			}
			opts.Ready = p.announce
			return p.Serve(c.Context(), p.dir, opts)
		},
	}
	c.Flags().StringVar(&opts.Addr, "addr", anyPort, "the `ADDRESS` to listen on; port 0 takes any that is free")
	c.Flags().Uint16Var(&port, "port", 0, "the `PORT` to listen on, on this machine alone: --addr 127.0.0.1:PORT")
	c.Flags().StringArrayVar(&opts.Hosts, "allow-host", nil, "a `NAME` that it may be asked under, besides its address and localhost")
	c.Flags().BoolVar(&opts.NewToken, "new-token", false, "make a new token; the old one opens nothing any more")
	return c
}

// announce prints where the dashboard can be reached.
func (p *program) announce(s Serving) {
	if p.io.JSON {
		_ = p.io.Encode(s)
		return
	}
	p.io.Printf("%s\n", s.URL)
	if !s.Local {
		p.io.Remarkf("ken: %s can be reached from other machines, and is not encrypted; everything takes the token", s.Addr)
	}
	p.io.Remarkf("hint: stop it with Ctrl-C")
}

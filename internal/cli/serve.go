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
		Short: "Show the dashboard in a browser",
		Long: `Serves the dashboard and prints its address, until you press Ctrl-C. The dashboard shows
what needs you, the current change, files, documents, specs and workflow files, and
follows commits, edits and new summaries within a second.

ken serve listens on this machine only, on a port that stays the same for a repository.
Reading and writing need the token, which the printed address contains. Other users of
the machine cannot read it.`,
		Example: `  ken serve
  ken serve --port 8080`,
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
	c.Flags().StringVar(&opts.Addr, "addr", anyPort, "listen on `ADDRESS`; port 0 means any free port")
	c.Flags().Uint16Var(&port, "port", 0, "listen on `PORT` of 127.0.0.1")
	c.Flags().StringArrayVar(&opts.Hosts, "allow-host", nil, "accept requests for the host `NAME` too")
	c.Flags().BoolVar(&opts.NewToken, "new-token", false, "make a new token; the old one stops working")
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
		p.io.Remarkf("ken: other machines can reach %s; the connection is not encrypted, and everything needs the token", s.Addr)
	}
	p.io.Remarkf("hint: stop it with Ctrl-C")
}

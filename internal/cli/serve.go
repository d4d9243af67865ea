package cli

import (
	"context"
	"errors"
	"net"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// ServeOptions says where and how a dashboard is served.
type ServeOptions struct {
	// Addr is the address to listen on. "" means the port of the repository on this
	// machine.
	Addr     string
	Hosts    []string // further host names to answer to
	NewToken bool
	// Ready is called with the address of the dashboard.
	Ready func(DashboardAddress)
	// Taken is called if another listener has the port of the repository. It may be nil.
	Taken func(port uint16)
}

// DashboardAddress is where a dashboard can be reached.
type DashboardAddress struct {
	URL   string `json:"url"`  // with the token, which gives full access
	Addr  string `json:"addr"` // that it listens on
	Local bool   `json:"local"`
	// Running reports that the dashboard was running already, so that ken started none.
	Running bool `json:"running"`
}

func (p *program) serve() *cobra.Command {
	var opts ServeOptions
	var port uint16
	c := &cobra.Command{
		Use:   "serve",
		Short: "Show the dashboard in a browser",
		Long: `Serves the dashboard and prints its address, until you press Ctrl-C. The dashboard shows
what needs attention, the current change, files, documents, specs and workflow files,
and follows commits, edits and new summaries within a second.

ken serve listens on this machine only, on a port that stays the same for a repository.
The printed address signs your browser in. It is new at each start: run ken serve again
to see it. Other users of the machine can neither guess it nor read the dashboard.`,
		Example: `  ken serve
  ken serve --port 8080   # instead of the port of this repository`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("port") {
				if c.Flags().Changed("addr") {
					return usageError(c, errors.New("use either --addr or --port"))
				}
				opts.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port)))
			}
			return p.serveDashboard(c.Context(), opts)
		},
	}
	c.Flags().StringVar(&opts.Addr, "addr", "", "listen on `ADDRESS`; port 0 means any free port")
	c.Flags().Uint16Var(&port, "port", 0, "listen on `PORT` of 127.0.0.1")
	c.Flags().StringArrayVar(&opts.Hosts, "allow-host", nil, "accept requests for the host `NAME` too")
	c.Flags().BoolVar(&opts.NewToken, "new-token", false, "make a new token; the old one stops working")
	return c
}

// serveDashboard serves the dashboard and prints its address.
func (p *program) serveDashboard(ctx context.Context, opts ServeOptions) error {
	opts.Ready = func(at DashboardAddress) { p.announce(at, opts.Hosts) }
	opts.Taken = func(port uint16) {
		p.io.Remarkf("ken: port %d, the port of this repository, is in use; ken uses another one", port)
	}
	return p.Serve(ctx, p.dir, opts)
}

// announce prints where the dashboard can be reached. hosts are the further host names to which it answers.
func (p *program) announce(s DashboardAddress, hosts []string) {
	if p.io.JSON {
		_ = p.io.Encode(s)
		return
	}
	p.io.Printf("%s\n", s.URL)
	if strings.Contains(s.URL, ".localhost:") {
		p.io.Remarkf("hint: if your browser does not find this name, use Chrome, Edge or Firefox; or, on a machine that only you use: ken serve --allow-host localhost")
	}
	if s.Running {
		p.io.Remarkf("ken: the dashboard of this repository is already running; this is its address")
		return
	}
	if !s.Local {
		p.io.Remarkf("ken: other machines can reach %s; the connection is not encrypted", s.Addr)
		if len(hosts) == 0 {
			p.io.Remarkf("hint: browsers of other machines sign in under a name that you allow: ken serve --addr %s --allow-host NAME", s.Addr)
		}
	}
	p.io.Remarkf("hint: stop it with Ctrl-C")
}

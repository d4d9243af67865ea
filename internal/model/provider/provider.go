// Package provider implements language models: Anthropic's Messages API, servers with OpenAI's Chat Completions
// API, and local programs.
//
// It knows the APIs, their keys, prices and errors. It limits the time, size and attempts of a turn, and counts
// its usage. The conversation itself is that of the caller; its types are in package model.
//
// A key comes from the environment. ken sends it only to the provider's own host, to a host that the environment
// names, or to one that the user has allowed. A configuration may come with a repository, and ken does not trust a
// repository.
package provider

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/model"
)

// The providers.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
	Command   = "command"
)

// A Config selects a model.
type Config struct {
	Provider string // Anthropic, OpenAI or Command
	Model    string // as the provider calls it; for a Command, its name in ken
	// BaseURL is the address of the API. If empty, the environment names it in ANTHROPIC_BASE_URL or
	// OPENAI_BASE_URL; the default is the provider's own address.
	BaseURL string
	// Allowed is set if the user lets ken send a key and file contents to BaseURL. The provider's own address, and
	// one that the environment names, need no permission.
	Allowed bool
	// Command is the program and its arguments. ken runs it without a shell. Only the user may set it.
	Command []string
	// JSON sends the program the request as JSON, including tools, instead of the prompt as text.
	JSON bool
	// Prices are the prices of models by name. They take precedence over the built-in table.
	Prices map[string]model.Price
}

// Options tune a Model. The zero value is ready to use.
type Options struct {
	Attempts int           // the maximum number of attempts of a turn; 6 if 0
	Total    time.Duration // the maximum time of a turn, including waits; 20 minutes if 0
	Idle     time.Duration // the maximum time without data from a server; 5 minutes if 0
	MaxWait  time.Duration // the longest wait that a server may ask for; 2 minutes if 0
	// MaxBytes is the maximum size of a response on the wire; if 0, 16 MiB, and 64 KiB for a Command.
	MaxBytes int64

	Getenv func(string) string                        // reads the environment; os.Getenv if nil
	Now    func() time.Time                           // the clock, for dates that a server sends; time.Now if nil
	Sleep  func(context.Context, time.Duration) error // waits, or returns the error of the context; a timer if nil
	Rand   func() float64                             // returns a number in [0, 1); math/rand if nil
	HTTP   http.RoundTripper                          // the network; ken's own transport if nil
}

// A Model is one model of one provider.
type Model struct {
	name  string
	price model.Price
	opts  Options
	hide  redactor
	where string // the host or program, for errors
	asker asker
}

// An asker makes one attempt at a turn. The usage of the answer is the cost of the attempt, even if it failed.
type asker interface {
	ask(ctx context.Context, req model.Request, text func(string)) (answer, *failure)
}

// An answer is the reply of one attempt.
type answer struct {
	model.Reply
	reached bool // the model has started to work
}

// New returns the model of cfg. It sends no request. It returns an error for problems that it can find without
// one, such as a missing key or a host that must not get the key.
func New(cfg Config, opts Options) (*Model, error) {
	opts = opts.withDefaults()
	m := &Model{opts: opts, hide: newRedactor(opts.Getenv)}
	switch cfg.Provider {
	case Anthropic, OpenAI:
		svc := serviceOf(cfg.Provider)
		if cfg.Model == "" {
			return nil, svc.unnamed()
		}
		ep, err := svc.endpoint(cfg, opts.Getenv)
		if err != nil {
			return nil, err
		}
		m.name, m.where = cfg.Provider+"/"+cfg.Model, ep.url.Host
		m.price = priceOf(cfg, ep.own)
		m.asker = &client{endpoint: ep, wire: svc.wire(cfg.Model, ep), opts: opts, hide: m.hide, http: httpClient(opts)}
	case Command:
		if len(cfg.Command) == 0 || cfg.Command[0] == "" {
			return nil, misuse("set one in survey.command, for example: command: [claude, -p]", "no program for the provider command")
		}
		m.name, m.where = commandName(cfg), filepath.Base(cfg.Command[0])
		m.price = priceOf(cfg, false)
		m.asker = &program{argv: cfg.Command, json: cfg.JSON, max: opts.commandBytes(), hide: m.hide}
	default:
		return nil, unknown(cfg.Provider)
	}
	return m, nil
}

func unknown(provider string) error {
	return misuse("set --provider NAME, or survey.provider in .ken/config.yaml", "unknown provider %q (valid: outline, anthropic, openai, command)", provider)
}

// unnamed returns the error for a missing model name.
func (s *service) unnamed() error {
	return misuse("name one of "+s.models+" with --model NAME, or survey.model in .ken/config.yaml", "no model for the provider %s", s.name)
}

// commandName returns the name of a program: its model, else its file name.
func commandName(cfg Config) string {
	name := cfg.Model
	if name == "" && len(cfg.Command) > 0 {
		name = filepath.Base(cfg.Command[0])
	}
	return Command + "/" + name
}

// Quote returns a model for estimates: it has the name and the price of the model of cfg, needs neither a key nor
// a program, and answers no request.
func Quote(cfg Config, opts Options) (model.Model, error) {
	opts = opts.withDefaults()
	q := quoted{name: cfg.Provider + "/" + cfg.Model}
	switch cfg.Provider {
	case Anthropic, OpenAI:
		svc := serviceOf(cfg.Provider)
		if cfg.Model == "" {
			return nil, svc.unnamed()
		}
		at, err := svc.locate(cfg.BaseURL, opts.Getenv)
		if err != nil {
			return nil, err
		}
		q.price = priceOf(cfg, at.own)
	case Command:
		q.name, q.price = commandName(cfg), priceOf(cfg, false)
	default:
		return nil, unknown(cfg.Provider)
	}
	return q, nil
}

type quoted struct {
	name  string
	price model.Price
}

func (q quoted) Name() string       { return q.name }
func (q quoted) Price() model.Price { return q.price }
func (q quoted) Turn(context.Context, model.Request, model.Listener) (model.Reply, error) {
	return model.Reply{}, fmt.Errorf("ask %s: this model is only for planning", q.name)
}

// Name returns the provider and the model.
func (m *Model) Name() string { return m.name }

// Price returns the price of its tokens, or the zero Price if it is unknown.
func (m *Model) Price() model.Price { return m.price }

func (o Options) withDefaults() Options {
	or(&o.Attempts, 6)
	or(&o.Total, 20*time.Minute)
	or(&o.Idle, 5*time.Minute)
	or(&o.MaxWait, 2*time.Minute)
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	return o
}

func (o Options) httpBytes() int64 { or(&o.MaxBytes, 16<<20); return o.MaxBytes }

func (o Options) commandBytes() int64 { or(&o.MaxBytes, 64<<10); return o.MaxBytes }

func or[T comparable](v *T, other T) {
	var zero T
	if *v == zero {
		*v = other
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// misuse returns the error for an invalid configuration.
func misuse(hint, format string, args ...any) error {
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf(format, args...)}
}

// oneLine returns s as a single line of limited length that is safe for a terminal.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t', r == '\r':
			return ' '
		case r < ' ', r >= 0x7f && r < 0xa0, r == 0x2028, r == 0x2029, r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069:
			return '?'
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
	s = strings.Join(strings.Fields(s), " ")
	const most = 300
	if n := []rune(s); len(n) > most {
		return string(n[:most]) + "…"
	}
	return s
}

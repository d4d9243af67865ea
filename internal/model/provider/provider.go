// Package provider brings language models: Anthropic's Messages API, anything
// that speaks OpenAI's Chat Completions, and programs on this machine.
//
// It knows their wires, keys, prices and moods. It keeps a turn within bounds of
// time, size and attempts, and counts what was spent on it. What is talked about
// is not its business; the words are those of package model.
//
// A key comes from the environment and leaves it only to the host that it is
// for: the provider's own, one that the environment names, or one that the user
// has allowed. A configuration may come with a repository, and a repository is a
// stranger.
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

// A Config says which model to ask.
type Config struct {
	Provider string // Anthropic, OpenAI or Command
	Model    string // as the provider calls it; for a Command, what to call it here
	// BaseURL is where the API is. When "", the one that the environment names
	// in ANTHROPIC_BASE_URL or OPENAI_BASE_URL, else the provider's own.
	BaseURL string
	// Allowed says that the user lets a key and file contents go to BaseURL. The provider's
	// own address, and one that the environment names too, need no permission.
	Allowed bool
	// Command is the program and its arguments. It is started as it stands: let
	// nobody but the user name it.
	Command []string
	// JSON gives the program the request as JSON, tools included, instead of
	// the prompt as text.
	JSON bool
	// Prices are those of models by name; they go before the ones ken knows.
	Prices map[string]model.Price
}

// Options tunes a Model. The zero value is ready to use.
type Options struct {
	Attempts int           // the most tries that a turn has; 6 when 0
	Total    time.Duration // the most time that a turn takes, waits included; 20 minutes when 0
	Idle     time.Duration // the longest silence of a server; 5 minutes when 0
	MaxWait  time.Duration // the longest wait between tries that a server may ask for; 2 minutes when 0
	// MaxBytes is the largest answer taken, as it comes over the wire; 16 MiB
	// when 0, and 64 KiB from a Command.
	MaxBytes int64

	Getenv func(string) string                        // the environment; os.Getenv when nil
	Now    func() time.Time                           // the clock that a server's dates are held against; time.Now when nil
	Sleep  func(context.Context, time.Duration) error // waits, or returns the context's error; a timer when nil
	Rand   func() float64                             // from 0 to below 1; math/rand when nil
	HTTP   http.RoundTripper                          // the network; one of our own when nil
}

// A Model is one model of one provider.
type Model struct {
	name  string
	price model.Price
	opts  Options
	hide  hider
	where string // the host or program, for errors
	asker asker
}

// An asker makes one attempt at a turn. The answer's usage is what the attempt
// cost, also when it failed.
type asker interface {
	ask(ctx context.Context, req model.Request, text func(string)) (answer, *trouble)
}

// An answer is a reply of one attempt.
type answer struct {
	model.Reply
	reached bool // the model has begun to work on it
}

// New returns the model that cfg names. Nothing is asked yet; what can be told
// without asking is an error here: a missing key, a host that must not have it.
func New(cfg Config, opts Options) (*Model, error) {
	opts = opts.withDefaults()
	m := &Model{opts: opts, hide: hiderOf(opts.Getenv)}
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

// unnamed says that the model is missing.
func (s *service) unnamed() error {
	return misuse("name one of "+s.models+" with --model NAME, or survey.model in .ken/config.yaml", "no model for the provider %s", s.name)
}

// commandName is what a program is called: by its model, else by its file.
func commandName(cfg Config) string {
	name := cfg.Model
	if name == "" && len(cfg.Command) > 0 {
		name = filepath.Base(cfg.Command[0])
	}
	return Command + "/" + name
}

// Quote returns as much of the model that cfg names as can be told without a key or
// a program: its name and its price. It answers nothing.
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

// Name is the provider and its model.
func (m *Model) Name() string { return m.name }

// Price is what its tokens cost, the zero Price when that is not known.
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

// misuse says that the configuration makes no sense.
func misuse(hint, format string, args ...any) error {
	return &fault.Error{Kind: fault.Usage, Hint: hint, Err: fmt.Errorf(format, args...)}
}

// oneLine makes a line of s that a terminal can show, of limited length.
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

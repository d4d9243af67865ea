package provider

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"ken/internal/fault"
	"ken/internal/model"
)

// maxKey limits the length of a key.
const maxKey = 512

// A service is a provider with an HTTP API.
type service struct {
	name    string
	models  string // an example, for hints
	keyVar  string // the environment variable with the key
	baseVar string // the environment variable with another base address
	base    string // the default address
	path    string // the path of the API below the base address
	wire    func(model string, ep endpoint) wire
}

var services = [...]service{
	{
		name: Anthropic, models: "claude-opus-5-5, claude-sonnet-5-5, …",
		keyVar: "ANTHROPIC_API_KEY", baseVar: "ANTHROPIC_BASE_URL",
		base: "https://api.anthropic.com", path: "/v1/messages", wire: newAnthropic,
	},
	{
		name: OpenAI, models: "gpt-5.4, gpt-5.4-mini, …",
		keyVar: "OPENAI_API_KEY", baseVar: "OPENAI_BASE_URL",
		base: "https://api.openai.com/v1", path: "/v1/chat/completions", wire: newOpenAI,
	},
}

func serviceOf(name string) *service {
	for i := range services {
		if services[i].name == name {
			return &services[i]
		}
	}
	panic("provider: no service is called " + name)
}

// An endpoint is the address of requests and the key that they send.
type endpoint struct {
	url    *url.URL
	key    string // "" for none
	keyVar string
	own    bool // the address is the provider's own
}

// An address is the base address of a service.
type address struct {
	url  *url.URL
	text string // as the configuration or the environment spells it
	own  bool   // the address is the provider's own
	// given is set if the environment names the address, or if it is the provider's own.
	given bool
}

// locate returns the address of a service: base, which is from a configuration, else the one in the environment,
// else the provider's own.
func (s *service) locate(base string, getenv func(string) string) (address, error) {
	mine := strings.TrimSpace(getenv(s.baseVar))
	said, text := "base_url", base
	if base == "" {
		said, text = s.baseVar, mine
	}
	if text == "" {
		text = s.base
	}
	u, err := s.parse(said, text)
	if err != nil {
		return address{}, err
	}
	own, err := s.parse("base", s.base)
	if err != nil {
		return address{}, err
	}
	at := address{url: u, text: text, own: sameHost(u, own), given: base == ""}
	if named, err := s.parse(s.baseVar, mine); mine != "" && err == nil && sameHost(u, named) && u.Path == named.Path {
		at.given = true
	}
	if strings.EqualFold(u.Host, own.Host) && !at.own && !at.given {
		return address{}, misuse("write https://", "%s is %s: ken does not send a key over plain http", said, text)
	}
	if at.own {
		at.text, at.given = s.base, true
	}
	return at, nil
}

// A Place is the address of the model of a [Config].
type Place struct {
	Address string
	Key     string // the environment variable with the key for this address
	// Given is set if the user names the address in the environment, or if it is the provider's own.
	Given bool
}

// Locate returns the address of a model with an HTTP API.
func Locate(cfg Config, opts Options) (Place, error) {
	if cfg.Provider != Anthropic && cfg.Provider != OpenAI {
		return Place{}, unknown(cfg.Provider)
	}
	svc := serviceOf(cfg.Provider)
	at, err := svc.locate(cfg.BaseURL, opts.withDefaults().Getenv)
	return Place{Address: at.text, Key: svc.keyVar, Given: at.given}, err
}

// endpoint returns the address of requests and their key. It rejects an address that only a configuration names
// and that the user has not allowed.
func (s *service) endpoint(cfg Config, getenv func(string) string) (endpoint, error) {
	at, err := s.locate(cfg.BaseURL, getenv)
	if err != nil {
		return endpoint{}, err
	}
	if !at.given && !cfg.Allowed {
		return endpoint{}, misuse(
			fmt.Sprintf("if you trust that host with your key and your code: export %s=%s", s.baseVar, fault.Quote(at.text)),
			"base_url is %s: ken does not send a key to a host that only the repository names", at.text)
	}
	ep := endpoint{url: at.url, keyVar: s.keyVar, own: at.own}
	if ep.key, err = s.key(getenv); err != nil {
		return endpoint{}, err
	}
	if ep.key == "" && ep.own {
		return endpoint{}, &fault.Error{
			Hint: fmt.Sprintf("export %s=…, or use no model: set survey.provider to outline in .ken/config.yaml", s.keyVar),
			Err:  &model.Failure{Reason: model.NoKey, Err: fmt.Errorf("no key for %s: %s is not set", s.name, s.keyVar)},
		}
	}
	return ep, nil
}

// key returns the key in the environment. Its errors never quote the key.
func (s *service) key(getenv func(string) string) (string, error) {
	key := strings.TrimSpace(getenv(s.keyVar))
	bad := ""
	switch {
	case len(key) > maxKey:
		bad = fmt.Sprintf("is longer than %d characters", maxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }):
		bad = "contains a character that is not valid in a key"
	default:
		return key, nil
	}
	return "", &fault.Error{
		Hint: fmt.Sprintf("set it again: export %s=…", s.keyVar),
		Err:  &model.Failure{Reason: model.NoKey, Err: fmt.Errorf("%s %s", s.keyVar, bad)},
	}
}

// parse returns the address of the API below base. The base may end in the version or not: the libraries of the
// providers differ in that.
func (s *service) parse(said, base string) (*url.URL, error) {
	hint := fmt.Sprintf("for example: %s", s.base)
	u, err := url.Parse(base)
	switch {
	case err != nil: // the text of err would repeat a password
		return nil, misuse(hint, "%s is not an address", said)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, misuse(hint, "%s has a user, a query or a fragment in it: want a plain address", said)
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		return nil, misuse(hint, "%s is %q: want https://HOST", said, base)
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
	rest := s.path
	if s.name == OpenAI && path != "" && !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
		rest = strings.TrimPrefix(rest, "/v1") // a gateway's own path may have another version
	}
	u.Path, u.RawPath = path+rest, ""
	return u, nil
}

// sameHost reports whether two addresses have the same scheme and host.
func sameHost(a, b *url.URL) bool {
	return a != nil && b != nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// loopback reports whether u is an address of this machine.
func loopback(u *url.URL) bool {
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

package provider

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"

	"ken/internal/fault"
	"ken/internal/model"
)

// maxKey is more than any provider's key is long.
const maxKey = 512

// A service is a provider that is reached over the network.
type service struct {
	name    string
	models  string // an example, for hints
	keyVar  string // the environment's name for the key
	baseVar string // and for another address
	base    string // the provider's own address
	path    string // of the API from there on
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

// An endpoint is where requests go, and what they show there.
type endpoint struct {
	url    *url.URL
	key    string // none when ""
	keyVar string
	own    bool // the provider's own
}

// endpoint decides where requests go. Base is what a configuration says, which
// is believed as far as the environment, or this machine, bears it out.
func (s *service) endpoint(base string, getenv func(string) string) (endpoint, error) {
	mine := strings.TrimSpace(getenv(s.baseVar)) // the user's own word
	said := s.baseVar
	if base != "" {
		said = "base_url"
	} else if base = mine; base == "" {
		base = s.base
	}
	u, err := s.parse(said, base)
	if err != nil {
		return endpoint{}, err
	}
	own, err := s.parse("base", s.base)
	if err != nil {
		return endpoint{}, err
	}
	ep := endpoint{url: u, keyVar: s.keyVar, own: sameHost(u, own)}
	if named, err := s.parse(s.baseVar, mine); !ep.own && !loopback(u) && (mine == "" || err != nil || !sameHost(u, named)) {
		if u.Host == own.Host {
			return endpoint{}, misuse("write https://", "%s is %s: a key must not go over plain http", said, base)
		}
		return endpoint{}, misuse(
			fmt.Sprintf("if you trust that host with your key and your code: export %s=%s", s.baseVar, fault.Quote(base)),
			"%s is %s: no host for a key to go to on a repository's word", said, base)
	}
	if ep.key, err = s.key(getenv); err != nil {
		return endpoint{}, err
	}
	if ep.key == "" && ep.own {
		return endpoint{}, &fault.Error{
			Hint: fmt.Sprintf("export %s=…, or do without a model: set survey.provider to outline in .ken/config.yaml", s.keyVar),
			Err:  &model.Failure{Reason: model.NoKey, Err: fmt.Errorf("there is no key for %s: %s is not set", s.name, s.keyVar)},
		}
	}
	return ep, nil
}

// key returns what the environment has. An error says nothing of its content.
func (s *service) key(getenv func(string) string) (string, error) {
	key := strings.TrimSpace(getenv(s.keyVar))
	bad := ""
	switch {
	case len(key) > maxKey:
		bad = fmt.Sprintf("is longer than %d characters", maxKey)
	case strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }):
		bad = "holds a character that no key has"
	default:
		return key, nil
	}
	return "", &fault.Error{
		Hint: fmt.Sprintf("set it again: export %s=…", s.keyVar),
		Err:  &model.Failure{Reason: model.NoKey, Err: fmt.Errorf("%s %s", s.keyVar, bad)},
	}
}

// parse returns the address of the API below base, with or without the version
// at its end: the providers' own libraries differ in that.
func (s *service) parse(said, base string) (*url.URL, error) {
	hint := fmt.Sprintf("for example: %s", s.base)
	u, err := url.Parse(base)
	switch {
	case err != nil: // its text would repeat a password
		return nil, misuse(hint, "%s is not an address", said)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return nil, misuse(hint, "%s has a user, a query or a fragment in it: want a plain address", said)
	case u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.Opaque != "":
		return nil, misuse(hint, "%s is %q: want https://HOST", said, base)
	}
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/v1")
	rest := s.path
	if s.name == OpenAI && path != "" && !strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/v1") {
		rest = strings.TrimPrefix(rest, "/v1") // a gateway's own path says its version its own way
	}
	u.Path, u.RawPath = path+rest, ""
	return u, nil
}

// sameHost reports whether two addresses are of one server, and no less secret
// on the way.
func sameHost(a, b *url.URL) bool {
	return a != nil && b != nil && a.Scheme == b.Scheme && strings.EqualFold(a.Host, b.Host)
}

// loopback reports whether u is on this machine.
func loopback(u *url.URL) bool {
	if strings.EqualFold(u.Hostname(), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err == nil && ip.IsLoopback()
}

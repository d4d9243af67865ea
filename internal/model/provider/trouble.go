package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/model"
)

// A trouble is why an attempt failed. It carries words rather than an error: the
// errors below it quote what servers send, which may be our own key.
type trouble struct {
	reason model.Reason
	text   string
	passes bool          // trying again may help
	after  time.Duration // the server's word on when; none when 0
	hint   string        // the usual one for its reason when ""
	unsent bool          // nobody has got the request
}

// failed makes an error of a trouble that is the last.
func (m *Model) failed(t *trouble, attempts int) error {
	tries := ""
	if attempts > 1 {
		tries = fmt.Sprintf(" (%d attempts)", attempts)
	}
	hint := t.hint
	if hint == "" {
		hint = m.hint(t)
	}
	return &fault.Error{Hint: m.hide.clean(hint), Err: &model.Failure{
		Reason: t.reason, Unsent: t.unsent,
		Err: fmt.Errorf("ask %s: %w%s", m.name, errors.New(m.hide.clean(t.text)), tries),
	}}
}

// hint says what to do next.
func (m *Model) hint(t *trouble) string {
	c, remote := m.asker.(*client)
	switch t.reason {
	case model.Unauthorized:
		if remote {
			return fmt.Sprintf("set a key that %s accepts: export %s=…", m.where, c.endpoint.keyVar)
		}
	case model.NoCredit:
		return "check the account's credit and spending limit, then continue with: ken survey run"
	case model.NoModel:
		if remote {
			return fmt.Sprintf("name a model that %s has in survey.model of .ken/config.yaml; is the address right? %s", m.where, c.endpoint.url)
		}
	case model.RateLimited:
		if t.after > m.opts.MaxWait {
			return fmt.Sprintf("continue in %s with: ken survey run", t.after.Round(time.Second))
		}
		return "use fewer jobs: ken survey run --jobs 1"
	case model.Overloaded:
		return "continue later with: ken survey run"
	case model.Down:
		if remote {
			return "check the server: curl -sSI " + fault.Quote(c.endpoint.url.String())
		}
	case model.TooLong:
		return "exclude large files with survey.exclude in .ken/config.yaml, then: ken survey run"
	case model.BadAnswer, model.BadRequest:
		if remote {
			return fmt.Sprintf("does %s speak the API of the provider that survey.provider names?", c.endpoint.url)
		}
	default:
	}
	if p, ok := m.asker.(*program); ok {
		hint := "try the program alone: echo hello |"
		for _, arg := range p.argv {
			hint += " " + fault.Quote(arg)
		}
		return hint
	}
	return "try again with: ken survey run"
}

// A hider keeps keys out of what people read.
type hider []string

// hiderOf knows every key in the environment, whomever it is for: a program that
// we start has them all.
func hiderOf(getenv func(string) string) hider {
	var h hider
	for _, s := range services {
		if key := strings.TrimSpace(getenv(s.keyVar)); key != "" {
			h = append(h, key)
		}
	}
	return h
}

// telling is how long a part of a key must be to be hidden. Errors quote parts:
// of an address up to its query, of a text up to some length.
const telling = 8

// clean returns s as one line without keys, or parts of them. They go before it
// is cut short, and again after, since making a line of it may have made one.
func (h hider) clean(s string) string {
	for _, key := range h {
		s = hidden(oneLine(hidden(s, key)), key)
	}
	return oneLine(s)
}

// hidden returns s with every telling part of key in it left out.
func hidden(s, key string) string {
	if len(key) < telling {
		return strings.ReplaceAll(s, key, "…")
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		n := telling
		if i+n > len(s) || !strings.Contains(key, s[i:i+n]) {
			out.WriteByte(s[i])
			i++
			continue
		}
		for i+n < len(s) && strings.Contains(key, s[i:i+n+1]) {
			n++
		}
		out.WriteString("…")
		i += n
	}
	return out.String()
}

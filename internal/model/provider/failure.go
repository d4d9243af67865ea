package provider

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"ken/internal/fault"
	"ken/internal/model"
)

// A failure describes why an attempt failed. It has a text instead of an error: the underlying errors quote data
// from servers, which may contain a key.
type failure struct {
	reason model.Reason
	text   string
	passes bool          // a retry may help
	after  time.Duration // the wait that the server asks for; 0 for none
	hint   string        // the default hint of the reason if ""
	unsent bool          // the request reached no server
}

// failed returns the error of a turn whose last attempt failed.
func (m *Model) failed(t *failure, attempts int) error {
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

// hint returns advice for the user.
func (m *Model) hint(t *failure) string {
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

// A redactor removes keys from texts for people.
type redactor []string

// newRedactor returns a redactor of every key in the environment, for any provider: a program that ken starts gets them
// all.
func newRedactor(getenv func(string) string) redactor {
	var h redactor
	for _, s := range services {
		if key := strings.TrimSpace(getenv(s.keyVar)); key != "" {
			h = append(h, key)
		}
	}
	return h
}

// minKeyPart is the length from which a part of a key is hidden. Errors quote parts: of an address up to its query,
// of a text up to some length.
const minKeyPart = 8

// clean returns s as one line without keys or parts of them. It removes them twice: before the text is shortened,
// and after, because joining the lines may have joined a key.
func (r redactor) clean(s string) string {
	for _, key := range r {
		s = redact(oneLine(redact(s, key)), key)
	}
	return oneLine(s)
}

// redact returns s without the parts of key that are long enough to reveal it.
func redact(s, key string) string {
	if len(key) < minKeyPart {
		return strings.ReplaceAll(s, key, "…")
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		n := minKeyPart
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

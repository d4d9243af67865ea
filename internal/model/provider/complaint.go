package provider

import (
	"encoding/json"
	"net/http"
	"strings"

	"ken/internal/model"
)

// A complaint is a service's own word on what went wrong, in the answer's body
// or amid its events. All of them write it in nearly the same way.
type complaint struct {
	Type    string
	Code    string
	Param   string
	Message string
}

// parseComplaint reads {"error": {"type", "code", "param", "message"}}, and the
// shorter forms that local servers write. What it cannot read is empty.
func parseComplaint(b []byte) complaint {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(b, &outer) != nil {
		return complaint{}
	}
	var inner struct {
		Type    any    `json:"type"`
		Code    any    `json:"code"` // a number with some
		Param   any    `json:"param"`
		Message string `json:"message"`
		Details struct {
			Code any `json:"error_code"`
		} `json:"details"`
	}
	var text string
	if json.Unmarshal(outer.Error, &inner) != nil {
		_ = json.Unmarshal(outer.Error, &text) // or it has none
	}
	c := complaint{Type: word(inner.Type), Code: word(inner.Code), Param: word(inner.Param), Message: inner.Message}
	if code := word(inner.Details.Code); code != "" {
		c.Code = code
	}
	if c.Message == "" {
		c.Message = text
	}
	if c.Message == "" {
		c.Message = outer.Message
	}
	if c.Message == "" && json.Unmarshal(outer.Detail, &text) == nil {
		c.Message = text
	}
	return c
}

func word(v any) string {
	s, _ := v.(string)
	return s
}

// judge says what a complaint amounts to. The status is 0 when the answer had
// already begun.
func (c complaint) judge(status int) *trouble {
	t := &trouble{reason: model.BadRequest, text: c.Message}
	switch {
	case c.is("insufficient_quota", "billing_error", "billing_hard_limit_reached", "enforced_spend_limit_reached"),
		status == http.StatusPaymentRequired,
		c.says("credit balance is too low", "specified api usage limits"):
		t.reason = model.NoCredit
	case c.is("context_length_exceeded", "request_too_large"),
		status == http.StatusRequestEntityTooLarge,
		c.says("prompt is too long", "maximum context length", "context window", "context size", "context length"):
		t.reason = model.TooLong
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		c.is("authentication_error", "permission_error", "invalid_api_key"):
		t.reason = model.Unauthorized
	case status == http.StatusNotFound, c.is("not_found_error", "model_not_found"):
		t.reason = model.NoModel
	case status == http.StatusTooManyRequests, c.is("rate_limit_error", "rate_limit_exceeded"):
		t.reason, t.passes = model.RateLimited, true
	case status == http.StatusServiceUnavailable, status == 529, c.is("overloaded_error"):
		t.reason, t.passes = model.Overloaded, true
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict:
		t.reason, t.passes = model.Down, true
	case status == 0 && !c.is("invalid_request_error"):
		t.reason, t.passes = model.Down, true
	case status > 0 && status < 400:
		t.reason = model.BadAnswer
	}
	return t
}

// is reports whether the complaint is of one of these types.
func (c complaint) is(types ...string) bool {
	for _, s := range types {
		if c.Type == s || c.Code == s {
			return true
		}
	}
	return false
}

// says reports whether its message holds one of these phrases. Types and codes
// would be better; where a service has none for a thing, its words must do.
func (c complaint) says(phrases ...string) bool {
	msg := strings.ToLower(c.Message)
	for _, s := range phrases {
		if strings.Contains(msg, s) {
			return true
		}
	}
	return false
}

// amid makes a trouble of a complaint amid an answer.
func (c complaint) amid() *trouble {
	t := c.judge(0)
	t.text = "the answer breaks off: " + c.Message
	if c.Message == "" {
		t.text = "the answer breaks off: " + c.Type
	}
	return t
}

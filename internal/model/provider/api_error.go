package provider

import (
	"encoding/json"
	"net/http"
	"strings"

	"ken/internal/model"
)

// An apiError is an error message of a service, in the body of a response or in its event stream. All services use
// nearly the same format.
type apiError struct {
	Type    string
	Code    string
	Param   string
	Message string
}

// parseAPIError reads {"error": {"type", "code", "param", "message"}} and the shorter forms that local servers
// write. Fields that it cannot read are empty.
func parseAPIError(b []byte) apiError {
	var outer struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(b, &outer) != nil {
		return apiError{}
	}
	var inner struct {
		Type    any    `json:"type"`
		Code    any    `json:"code"` // some servers send a number
		Param   any    `json:"param"`
		Message string `json:"message"`
		Details struct {
			Code any `json:"error_code"`
		} `json:"details"`
	}
	var text string
	if json.Unmarshal(outer.Error, &inner) != nil {
		_ = json.Unmarshal(outer.Error, &text) // "" if it is not a string
	}
	c := apiError{Type: word(inner.Type), Code: word(inner.Code), Param: word(inner.Param), Message: inner.Message}
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

// judge returns the failure that an apiError means. The status is 0 if the response had already begun.
func (a apiError) judge(status int) *failure {
	t := &failure{reason: model.BadRequest, text: a.Message}
	switch {
	case a.is("insufficient_quota", "billing_error", "billing_hard_limit_reached", "enforced_spend_limit_reached"),
		status == http.StatusPaymentRequired,
		a.says("credit balance is too low", "specified api usage limits"):
		t.reason = model.NoCredit
	case a.is("context_length_exceeded", "request_too_large"),
		status == http.StatusRequestEntityTooLarge,
		a.says("prompt is too long", "maximum context length", "context window", "context size", "context length"):
		t.reason = model.TooLong
	case status == http.StatusUnauthorized, status == http.StatusForbidden,
		a.is("authentication_error", "permission_error", "invalid_api_key"):
		t.reason = model.Unauthorized
	case status == http.StatusNotFound, a.is("not_found_error", "model_not_found"):
		t.reason = model.NoModel
	case status == http.StatusTooManyRequests, a.is("rate_limit_error", "rate_limit_exceeded"):
		t.reason, t.passes = model.RateLimited, true
	case status == http.StatusServiceUnavailable, status == 529, a.is("overloaded_error"):
		t.reason, t.passes = model.Overloaded, true
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusConflict:
		t.reason, t.passes = model.Down, true
	case status == 0 && !a.is("invalid_request_error"):
		t.reason, t.passes = model.Down, true
	case status > 0 && status < 400:
		t.reason = model.BadAnswer
	}
	return t
}

// is reports whether the type or code of the apiError is one of these.
func (a apiError) is(types ...string) bool {
	for _, s := range types {
		if a.Type == s || a.Code == s {
			return true
		}
	}
	return false
}

// says reports whether the message contains one of these phrases, for errors that have no type or code of their
// own.
func (a apiError) says(phrases ...string) bool {
	msg := strings.ToLower(a.Message)
	for _, s := range phrases {
		if strings.Contains(msg, s) {
			return true
		}
	}
	return false
}

// inStream returns the failure for an apiError in the event stream.
func (a apiError) inStream() *failure {
	t := a.judge(0)
	t.text = "the answer breaks off: " + a.Message
	if a.Message == "" {
		t.text = "the answer breaks off: " + a.Type
	}
	return t
}

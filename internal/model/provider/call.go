package provider

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ken/internal/model"
)

// maxCalls is more than any model wants done at once.
const maxCalls = 1000

// count returns a number of tokens that can be added to others, whatever a
// server claims.
func count(n int64) int64 { return min(max(n, 0), 1<<40) }

// newCall makes a call of the arguments that a model wrote. What is not a JSON
// object is the model's mistake, and for the model to hear of.
func newCall(id, name, args string) model.Call {
	c := model.Call{ID: id, Name: name, Args: json.RawMessage("{}")}
	b := bytes.TrimSpace([]byte(args))
	if len(b) == 0 {
		return c // a tool without arguments
	}
	var object map[string]json.RawMessage
	err := json.Unmarshal(b, &object)
	switch {
	case err != nil:
		c.Err = fmt.Errorf("the arguments of %s are not a JSON object: %w: %s", oneLine(name), err, oneLine(string(b)))
	case object == nil: // null
		return c
	default:
		c.Args = b
	}
	return c
}

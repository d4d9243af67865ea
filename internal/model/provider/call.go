package provider

import (
	"bytes"
	"encoding/json"
	"fmt"

	"ken/internal/model"
)

// maxCalls limits the tool calls in one reply.
const maxCalls = 1000

// count limits a number of tokens from a server, so that sums cannot overflow.
func count(n int64) int64 { return min(max(n, 0), 1<<40) }

// newCall returns a tool call with the arguments that a model wrote. If they are not a JSON object, Err is set,
// and the caller reports it to the model.
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

package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addErrorCodes gives every error a JSON-RPC code. An error without one would have the
// meaningless code 0.
func addErrorCodes(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		code := int64(jsonrpc.CodeInternalError)
		if method == "initialize" { // a second initialize
			code = jsonrpc.CodeInvalidRequest
		}
		return res, withCode(code, err)
	}
}

// withCode adds a code to an error that has none, unless the call was cancelled.
func withCode(code int64, err error) error {
	if _, has := errors.AsType[*jsonrpc.Error](err); err == nil || has || errors.Is(err, context.Canceled) {
		return err
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

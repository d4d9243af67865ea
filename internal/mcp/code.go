package mcp

import (
	"context"
	"errors"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addErrorCodes gives each error of a method a code of JSON-RPC's: one that has none would go out
// with 0, which means nothing.
func addErrorCodes(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		code := int64(jsonrpc.CodeInternalError)
		if method == "initialize" { // it fails for being the second
			code = jsonrpc.CodeInvalidRequest
		}
		return res, withCode(code, err)
	}
}

// withCode is err with a code, unless it has one or is about nobody waiting any more.
func withCode(code int64, err error) error {
	if _, has := errors.AsType[*jsonrpc.Error](err); err == nil || has || errors.Is(err, context.Canceled) {
		return err
	}
	return &jsonrpc.Error{Code: code, Message: err.Error()}
}

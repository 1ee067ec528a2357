package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"unicode/utf8"
)

// The error codes of JSON-RPC 2.0 section 5.1.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// rpcError is a failure of the protocol, with the HTTP status it travels under.
type rpcError struct {
	status, code int
	text         string
}

func badRequest(text string) *rpcError {
	return &rpcError{http.StatusBadRequest, codeInvalidRequest, text}
}

func invalidParams(text string) *rpcError {
	return &rpcError{http.StatusOK, codeInvalidParams, text}
}

// response returns the body that carries the error; a nil id becomes null.
func (e *rpcError) response(id json.RawMessage) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	b := appendID(make([]byte, 0, 128), id)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, int64(e.code), 10)
	b = append(b, `,"message":`...)
	b = appendString(b, e.text)
	return append(b, "}}"...)
}

// response returns the body that carries a result, which is JSON already.
func response(id json.RawMessage, result []byte) []byte {
	b := appendID(make([]byte, 0, len(id)+len(result)+40), id)
	b = append(b, `,"result":`...)
	b = append(b, result...)
	return append(b, '}')
}

// appendID begins a response. The id goes back as the bytes it came in: a
// number may be larger than any of Go's types.
func appendID(b []byte, id json.RawMessage) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	return append(b, id...)
}

// appendString appends s as a JSON string.
func appendString(b []byte, s string) []byte {
	buf := bytes.NewBuffer(b)
	e := json.NewEncoder(buf)
	e.SetEscapeHTML(false)      // answers are not put into pages; < > & cost a model tokens
	_ = e.Encode(s)             // a string into memory can't fail
	buf.Truncate(buf.Len() - 1) // the newline
	return buf.Bytes()
}

// message is one JSON-RPC message. A nil id means that it asks for no answer.
type message struct {
	id     json.RawMessage
	method string
	params map[string]json.RawMessage
}

// decodeMessage takes a body apart. Maps are decoded, not structs: encoding/json
// matches the names of struct fields in any case, and a proxy that checks
// "method" must not be passed by with "Method". Of repeated keys the last holds.
// The message returned with an error has the id to answer to, if it has one.
func decodeMessage(body []byte) (message, *rpcError) {
	if !utf8.Valid(body) {
		return message{}, &rpcError{http.StatusBadRequest, codeParse, "the request is not UTF-8"}
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		if !json.Valid(body) {
			return message{}, &rpcError{http.StatusBadRequest, codeParse, "the request is not JSON"}
		}
		if bytes.TrimLeft(body, " \t\r\n")[0] == '[' {
			return message{}, badRequest("batches are not taken: send one message a request")
		}
		return message{}, badRequest("want one JSON-RPC object")
	}
	return decodeFields(fields)
}

func decodeFields(fields map[string]json.RawMessage) (message, *rpcError) {
	var m message
	if id, has := fields["id"]; has {
		if !isID(id) {
			return m, badRequest("id: want a string or a whole number")
		}
		m.id = id
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		return m, badRequest(`jsonrpc: want "2.0"`)
	}
	method, has := fields["method"]
	if !has {
		if isResponse(fields) {
			return message{}, nil
		}
		return m, badRequest("method is missing")
	}
	if method[0] != '"' || json.Unmarshal(method, &m.method) != nil {
		return m, badRequest("method: want a string")
	}
	params := fields["params"]
	if len(params) == 0 || string(params) == "null" {
		return m, nil
	}
	if json.Unmarshal(params, &m.params) != nil && m.id != nil {
		return m, invalidParams("params: want an object")
	}
	return m, nil
}

// isResponse reports whether a message without method answers a request. This
// server asks nothing, so there is nothing to do with one but to take it.
func isResponse(fields map[string]json.RawMessage) bool {
	_, result := fields["result"]
	_, failure := fields["error"]
	return result != failure
}

// isID reports whether raw is what MCP takes as an id: a string or a whole
// number of any size, never null.
func isID(raw json.RawMessage) bool {
	if raw[0] == '"' {
		return true
	}
	digits := bytes.TrimPrefix(raw, []byte("-"))
	return len(digits) > 0 && len(bytes.Trim(digits, "0123456789")) == 0
}

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"
)

const defaultURL = "http://127.0.0.1:4319"

func (a *app) callCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "call TOOL [JSON]",
		Short: "Call an MCP tool on a running server and print the answer",
		Long: `Call an MCP tool on a running server and print the answer.

JSON is the arguments, an object; - reads it from standard input.
SONDE_URL is the server (default ` + defaultURL + `), SONDE_TOKEN a token of it.`,
		Example: `  sonde call telemetry.stats
  sonde call logs.query '{"severity":"ERROR","from":"-15m"}'`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			arguments, err := a.callArguments(args[1:])
			if err != nil {
				return err
			}
			return a.call(cmd.Context(), args[0], arguments, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "answer as JSON for programs")
	return c
}

// callArguments returns the tool's arguments as they will be sent.
func (a *app) callArguments(args []string) (json.RawMessage, error) {
	text := []byte("{}")
	if len(args) > 0 {
		text = []byte(args[0])
	}
	if string(text) == "-" {
		var err error
		if text, err = io.ReadAll(a.std.in); err != nil {
			return nil, fmt.Errorf("cannot read arguments from standard input: %w", err)
		}
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, fmt.Errorf(`arguments must be a JSON object such as {"severity":"ERROR"}: %w`, err)
	}
	return text, nil
}

// toolAnswer is the part of a tools/call response that is printed.
type toolAnswer struct {
	Result *struct {
		Content []struct {
			Text string `json:"text"`
		} `json:"content"`
		IsError bool `json:"isError"`
	} `json:"result"`
	Error *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

func (a *app) call(ctx context.Context, tool string, arguments json.RawMessage, asJSON bool) error {
	token := a.getenv("SONDE_TOKEN")
	if token == "" {
		return errors.New("SONDE_TOKEN is not set; `sonde token create LOGIN` makes a token")
	}
	target, err := callURL(a.getenv("SONDE_URL"), asJSON)
	if err != nil {
		return err
	}
	body, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		return err
	}
	answer, err := postCall(ctx, target, token, body)
	if err != nil {
		return err
	}
	if answer.Error != nil {
		return fmt.Errorf("the server refused the call: %s (%d)", answer.Error.Message, answer.Error.Code)
	}
	out := a.std.out
	if answer.Result.IsError {
		out = a.std.err
	}
	for _, block := range answer.Result.Content {
		fmt.Fprintln(out, strings.TrimSuffix(block.Text, "\n"))
	}
	if answer.Result.IsError {
		return errReported
	}
	return nil
}

// callURL completes what SONDE_URL gives to the address of the MCP endpoint.
func callURL(given string, asJSON bool) (string, error) {
	if given == "" {
		given = defaultURL
	}
	u, err := url.Parse(given)
	if err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return "", fmt.Errorf("SONDE_URL: got %q, want a URL such as %s", given, defaultURL)
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/mcp"
	}
	if asJSON {
		q := u.Query()
		q.Set("format", "json")
		u.RawQuery = q.Encode()
	}
	return u.String(), nil
}

func postCall(ctx context.Context, target, token string, body []byte) (*toolAnswer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("cannot reach the server: %w; is `sonde serve` running?", err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, fmt.Errorf("cannot read the answer: %w", err)
	}
	if resp.StatusCode == http.StatusUnauthorized {
		return nil, errors.New("the server does not know the token in SONDE_TOKEN; `sonde token create LOGIN` makes one")
	}
	var answer toolAnswer
	if err := json.Unmarshal(text, &answer); err != nil || answer.Result == nil && answer.Error == nil {
		return nil, fmt.Errorf("the server answered %s: %.200q", resp.Status, text)
	}
	return &answer, nil
}

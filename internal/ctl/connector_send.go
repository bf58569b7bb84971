package ctl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"patchbay/client"
)

type connectorSend struct {
	connectorRef
	Method string `arg:"" help:"The method, such as acme/search."`
	Params string `default:"" placeholder:"JSON|@FILE|-" help:"Parameters as a JSON object; @FILE for a file, - for standard input."`
	Notify bool   `help:"Send a notification, which has no result."`
	Agent  string `placeholder:"AGENT" help:"Use this agent's credential."`
}

// Run prints the result as JSON. It fails if the request does.
func (c connectorSend) Run(ctx context.Context, s *session) error {
	in := client.MethodRequest{Method: c.Method, Notify: &c.Notify}
	if c.Params != "" {
		text, err := s.readInput(c.Params)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &in.Params); err != nil || in.Params == nil {
			return errors.New("the parameters must be a JSON object")
		}
	}
	if c.Agent != "" {
		in.Agent = &c.Agent
	}
	api, err := s.openClient()
	if err != nil {
		return err
	}
	got, err := api.SendMethod(ctx, c.Connector, in)
	if err != nil {
		return err
	}
	switch {
	case s.flags.Output == "json":
		err = s.printJSON(got)
	case got.Error == nil && string(got.Result) != "null":
		_, err = fmt.Fprintln(s.world.Out, escapeText(string(got.Result)))
	}
	if err == nil && got.Error != nil {
		err = newServerError(got.Error.Message, got.Upstream)
	}
	return err
}

package ctl

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"patchbay/client"
)

type workloadCommands struct {
	List   workloadList   `cmd:"" help:"List an agent's workloads."`
	Add    workloadAdd    `cmd:"" help:"Let a workload get the agent's tokens for its JWT, and print its client id."`
	Remove workloadRemove `cmd:"" help:"Remove a workload; its tokens stop working within a second."`
}

type workloadList struct{ agentRef }

// Run prints a row for each workload.
func (c workloadList) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	list, err := api.ListAgentWorkloads(ctx, c.Agent)
	if err != nil {
		return err
	}
	t := newTable("CLIENT ID", "NAME", "ISSUER", "SUBJECT", "LAST USED")
	for _, w := range list.Items {
		t.addRow(w.ID, w.Name, w.Issuer, w.Subject, w.LastUsedAt)
	}
	return s.printValue(list.Items, t)
}

type workloadAdd struct {
	agentRef
	Name    string `required:"" placeholder:"NAME" help:"What the workload is."`
	Issuer  string `required:"" placeholder:"URL" help:"The iss of its JWTs."`
	Subject string `required:"" placeholder:"TEXT" help:"The sub of its JWTs, compared exactly."`
	Keys    string `placeholder:"FILE" help:"The issuer's public keys as a JWK Set, if Patchbay can't reach the issuer."`
}

// Run prints the client id alone, for scripts.
func (c workloadAdd) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	in := client.WorkloadCreate{Name: c.Name, Issuer: c.Issuer, Subject: c.Subject}
	if c.Keys != "" {
		text, err := os.ReadFile(c.Keys)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(text, &in.Keys); err != nil {
			return fmt.Errorf("%s is no JWK Set: %w", c.Keys, err)
		}
	}
	made, err := api.CreateAgentWorkload(ctx, c.Agent, in)
	if err != nil {
		return err
	}
	return s.printSentence(made, "%s", made.ID)
}

type workloadRemove struct {
	agentRef
	ID string `arg:"" help:"The workload's client id."`
}

// Run removes the workload.
func (c workloadRemove) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if err := api.DeleteAgentWorkload(ctx, c.Agent, c.ID); err != nil {
		return err
	}
	return s.printSentence(nil, "Removed %s.", c.ID)
}

package ctl

import (
	"context"

	"patchbay/client"
)

type scimCommands struct {
	Show    scimShow    `cmd:"" help:"Show whether SCIM is on, its URL and its use."`
	Enable  scimEnable  `cmd:"" help:"Turn on SCIM and print its token once."`
	Rotate  scimRotate  `cmd:"" help:"Replace the token and print it once; the old one ends at once."`
	Disable scimDisable `cmd:"" help:"Turn off SCIM; members stay."`
}

type scimShow struct{}

// Run prints one row.
func (scimShow) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	state, err := api.GetSCIM(ctx)
	if err != nil {
		return err
	}
	t := newTable("ENABLED", "URL", "BEGINS WITH", "ROTATED", "LAST REQUEST", "USERS", "MEMBERS", "GROUPS")
	t.addRow(state.Enabled, state.URL, state.TokenPrefix, state.RotatedAt, state.LastRequestAt, state.Users, state.Members, state.Groups)
	return s.printValue(state, t)
}

type scimEnable struct{}

// Run prints the token alone, for scripts.
func (scimEnable) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	state, err := api.EnableSCIM(ctx)
	return s.printSCIMToken(state, err)
}

type scimRotate struct{}

// Run prints the token alone, for scripts.
func (scimRotate) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	state, err := api.RotateSCIMToken(ctx)
	return s.printSCIMToken(state, err)
}

func (s *session) printSCIMToken(state client.Scim, err error) error {
	if err != nil {
		return err
	}
	return s.printSentence(state, "%s", *state.Token)
}

type scimDisable struct{}

// Run turns SCIM off.
func (scimDisable) Run(ctx context.Context, s *session) error {
	api, err := s.openClient()
	if err != nil {
		return err
	}
	if err := api.DisableSCIM(ctx); err != nil {
		return err
	}
	return s.printSentence(nil, "SCIM is off.")
}

package mailing

import (
	"context"
	"log/slog"

	"patchbay/internal/auth"
	"patchbay/internal/mail"
	"patchbay/internal/store"
)

// Options configure a [Service]. All fields but Log are required.
type Options struct {
	Store   *store.Store
	Auth    *auth.Service
	Sender  *mail.Sender
	BaseURL string // of the dashboard, for links
	Log     *slog.Logger
}

// Service sends e-mail to people.
type Service struct {
	store   *store.Store
	auth    *auth.Service
	sender  *mail.Sender
	baseURL string
	log     *slog.Logger
}

// New returns a Service.
func New(o Options) *Service {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Service{store: o.Store, auth: o.Auth, sender: o.Sender, baseURL: o.BaseURL, log: o.Log}
}

// Enabled reports whether e-mail can be sent.
func (s *Service) Enabled() bool { return s != nil }

func (s *Service) sendMail(ctx context.Context, kind string, m mail.Message) error {
	err := s.sender.Send(ctx, m)
	if err != nil {
		s.log.WarnContext(ctx, "mail not sent", "kind", kind, "error", err)
		return err
	}
	s.log.DebugContext(ctx, "mail sent", "kind", kind)
	return nil
}

package auth

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/url"
	"time"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/secret"
	"patchbay/internal/store"
)

const (
	// ResetLife is how long a link to set a new password is valid.
	ResetLife = time.Hour
	// maxResets bounds the mails to one address within failureWindow. More requests are accepted and send nothing.
	maxResets = 3
	// resetRequests names requests in the failure table; no e-mail address equals it.
	resetRequests = "a password reset of "
)

// RequestReset queues a mail with a link for each account of an address that a password opens. It neither fails nor
// takes longer where there is none. An address with too many requests is refused.
func (s *Service) RequestReset(ctx context.Context, email, language, address string) error {
	if !isAddress(email) {
		return fault.InvalidFields(newAddressFault())
	}
	account, from := resetRequests+NormalizeEmail(email), resetRequests+"from "+toNetwork(address)
	byAccount, byAddress, err := s.store.System().People().SignInFailures(ctx, account, from, s.now().Add(-failureWindow))
	if err != nil {
		return fmt.Errorf("count requests: %w", err)
	}
	if byAddress >= maxFailures {
		f := fault.Errorf(fault.RateLimited, "Too many requests. Try again in 15 minutes.")
		f.RetryAfter = int(failureWindow.Seconds())
		return f
	}
	if byAccount >= maxResets {
		return s.store.System().People().RecordSignInFailure(ctx, account, from)
	}
	return s.store.System().Mail().QueueReset(ctx, email, language, account, from)
}

// ResetLink is a link to set the password of one account.
type ResetLink struct {
	Path  string
	Email string
	Only  string // the tenant that the account is limited to; empty: none
}

// NewResetLinks makes a link for each account of an address with a password that opens a tenant. Earlier ones end.
func (s *Service) NewResetLinks(ctx context.Context, email string) ([]ResetLink, error) {
	users, err := s.store.System().People().UsersByAddress(ctx, email)
	if err != nil {
		return nil, fmt.Errorf("find accounts: %w", err)
	}
	var links []ResetLink
	for _, u := range users {
		all, err := s.store.System().People().Memberships(ctx, u.ID)
		if err != nil {
			return nil, fmt.Errorf("list memberships: %w", err)
		}
		open := passwordMemberships(all)
		if len(open) == 0 {
			continue
		}
		link, err := s.newResetLink(ctx, u)
		if err != nil {
			return nil, err
		}
		if u.IssuedBy != nil {
			link.Only = open[0].Tenant.Name
		}
		links = append(links, link)
	}
	return links, nil
}

func (s *Service) newResetLink(ctx context.Context, u store.User) (ResetLink, error) {
	random := make([]byte, 32)
	_, _ = rand.Read(random) // never fails
	token := secret.Text(base64.RawURLEncoding.EncodeToString(random))
	if err := s.store.System().Mail().AddPasswordReset(ctx, u.ID, tokenHash(token), s.now().Add(ResetLife)); err != nil {
		return ResetLink{}, fmt.Errorf("store a link: %w", err)
	}
	return ResetLink{Path: "/reset?token=" + url.QueryEscape(token.Reveal()), Email: u.Email}, nil
}

// Reset finds a link by its token. Unknown tokens count as those of invitations do.
func (s *Service) Reset(ctx context.Context, token secret.Text, address string) (store.PasswordReset, error) {
	if err := s.limitLinks(ctx, address); err != nil {
		return store.PasswordReset{}, err
	}
	reset, err := s.store.System().Mail().PasswordReset(ctx, tokenHash(token))
	if fault.Is(err, fault.NotFound) {
		if err := s.unknownLink(ctx, address); !fault.Is(err, fault.NotFound) {
			return store.PasswordReset{}, err
		}
		return store.PasswordReset{}, errResetEnded()
	}
	if err != nil {
		return store.PasswordReset{}, fmt.Errorf("find a link: %w", err)
	}
	if !reset.ExpiresAt.After(s.now()) {
		return store.PasswordReset{}, errResetEnded()
	}
	return reset, nil
}

func errResetEnded() error {
	return fault.Errorf(fault.NotFound, "Links work once and expire after an hour. Request a new one.")
}

// ResetPassword sets a new password by a link, which is then used up. All sessions of the person end. A second factor
// is still asked for at the next sign-in.
func (s *Service) ResetPassword(ctx context.Context, token, next secret.Text, address string) error {
	reset, err := s.Reset(ctx, token, address)
	if err != nil {
		return err
	}
	if err := CheckPassword("new_password", next); err != nil {
		return err
	}
	if !reset.Issued {
		if err := s.refuseIssuedPassword(ctx, "new_password", reset.Email, next); err != nil {
			return err
		}
	}
	hash, err := s.HashPassword(ctx, reset.Email, next)
	if err != nil {
		return err
	}
	all, err := s.store.System().People().Memberships(ctx, reset.UserID)
	if err != nil {
		return fmt.Errorf("list memberships: %w", err)
	}
	events := map[connectors.TenantID]store.Event{}
	for _, m := range passwordMemberships(all) {
		a := Actor{Kind: KindPerson, UserID: &reset.UserID, Name: reset.Name, Tenant: m.Tenant, Address: address}
		events[m.Tenant.ID] = a.Event("account.password_reset", reset.Email)
	}
	err = s.store.System().Mail().ResetPassword(ctx, tokenHash(token), hash, events)
	if fault.Is(err, fault.NotFound) {
		return errResetEnded() // used concurrently
	}
	return err
}

// SetMailPreference stores what the person is sent by e-mail in the current tenant.
func (s *Service) SetMailPreference(ctx context.Context, a Actor, choice connectors.MailChoice, language string) error {
	if a.UserID == nil {
		return errPeopleOnly()
	}
	if !choice.Valid() {
		return fault.InvalidFields(fault.Field{Location: "mail", Message: "Must be none, approvals or all."})
	}
	return s.store.Tenant(a.Tenant.ID).People().SetMailPreference(ctx, *a.UserID, choice, language)
}

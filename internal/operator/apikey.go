package operator

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/auth"
	"patchbay/internal/connectors"
	"patchbay/internal/fault"
)

type apikeyCreateCommand struct {
	databaseCommand
	Tenant  string `required:"" placeholder:"SLUG" help:"The tenant's slug or id."`
	Role    string `required:"" enum:"viewer,member,admin,owner,auditor" placeholder:"ROLE" help:"viewer, member, admin, owner or auditor."`
	Name    string `required:"" placeholder:"NAME" help:"What the key is for."`
	Expires string `placeholder:"WHEN" help:"Lifetime (720h, 30d) or time (2027-01-31, or RFC 3339). Unset: never expires."`
}

// Run prints only the key on standard output, for scripts.
func (c apikeyCreateCommand) Run(ctx context.Context, p IO) error {
	expires, err := parseExpiry(c.Expires, time.Now())
	if err != nil {
		return err
	}
	d, err := c.openDatabase(ctx, p)
	if err != nil {
		return err
	}
	defer d.Close()
	tenant, err := findTenant(ctx, d.Store, c.Tenant)
	if err != nil {
		return err
	}
	request := auth.KeyRequest{Name: c.Name, Role: connectors.Role(c.Role), ExpiresAt: expires}
	_, text, err := newAuthService(d).IssueKey(ctx, auth.Operator(tenant), request)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Stdout, text.Reveal())
	return err
}

// parseExpiry parses a duration, a day or a time; nil is never.
func parseExpiry(text string, now time.Time) (*time.Time, error) {
	if text == "" {
		return nil, nil
	}
	if number, ok := strings.CutSuffix(text, "d"); ok {
		if days, err := strconv.ParseUint(number, 10, 16); err == nil && days > 0 {
			at := now.AddDate(0, 0, int(days))
			return &at, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		at := now.Add(d)
		return &at, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil {
			return &at, nil
		}
	}
	return nil, fault.Errorf(fault.Invalid, "--expires must be a duration (720h, 30d), a day (2027-01-31) or an RFC 3339 time, not %q.", text)
}

package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
)

// localTransport connects to a Patchbay on this machine.
var localTransport http.Transport

// account is a person's account in Patchbay.
type account struct {
	issuer          string
	email, password string
}

// allowAccess signs in at the consent page and allows the request.
func (p account) allowAccess(ctx context.Context, address string) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	browser := &http.Client{Jar: jar, Transport: &localTransport}
	asked, err := url.Parse(address)
	if err != nil {
		return err
	}
	in := url.Values{"email": {p.email}, "password": {p.password}, "return_to": {asked.RequestURI()}}
	if err := submitForm(ctx, browser, p.issuer+"/login", in); err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	if err := submitForm(ctx, browser, address, url.Values{"decision": {"allow"}, "agent": {""}}); err != nil {
		return fmt.Errorf("allow: %w", err)
	}
	return nil
}

// submitForm posts a form and follows redirects.
func submitForm(ctx context.Context, browser *http.Client, address string, fields url.Values) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(fields.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	res, err := browser.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode/100 != 2 {
		return fmt.Errorf("%s at %s", res.Status, res.Request.URL.Path)
	}
	return nil
}

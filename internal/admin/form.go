package admin

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// secretFields are never sent back to a page: a page may be cached, saved or looked at over a shoulder.
var secretFields = map[string]bool{
	"auth.token": true, "auth.key": true, "auth.password": true,
	"auth.client_secret": true, "auth.private_key": true,
	"token": true, "key": true, "password": true, "client_secret": true, "private_key": true, "env": true,
	"current_password": true, "new_password": true,
}

// form is what a browser sent.
type form struct{ values url.Values }

func readForm(r *http.Request) (form, error) {
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return form{}, err
		}
		return form{}, fault.Wrap(fault.Malformed, err, "This form cannot be read.")
	}
	return form{values: r.PostForm}, nil
}

// text is a field without the space around it.
func (f form) text(name string) string { return strings.TrimSpace(f.values.Get(name)) }

// secret is a field as it was typed, but for the line end that a paste can bring along.
func (f form) secret(name string) secret.Text {
	return secret.Text(strings.Trim(f.values.Get(name), "\r\n"))
}

// number is a field that holds a whole number; one that holds none is -1, which no rule takes, and one that is not there is as before.
func (f form) number(name string, before int) int {
	if !f.values.Has(name) {
		return before
	}
	n, err := strconv.Atoi(f.text(name))
	if err != nil {
		return -1
	}
	return n
}

func (f form) checked(name string) bool { return f.values.Get(name) == "true" }

// again is the form with what was typed, but for secrets, and with what is wrong.
func (f form) again(err *fault.Error) templates.Form {
	shown := templates.Form{Values: map[string]string{}, Errors: map[string]string{}}
	for name := range f.values {
		if !secretFields[name] {
			shown.Values[name] = f.values.Get(name)
		}
	}
	if err == nil {
		return shown
	}
	for _, field := range err.Fields {
		shown.Errors[field.Location] = field.Message
	}
	if len(err.Fields) == 0 {
		shown.Problem = err.Message
	}
	return shown
}

// mendable returns the fault that a person can mend in the form, in their language; any other error is the handler's to return, and so is nil.
func mendable(ctx context.Context, err error) (*fault.Error, bool) {
	if err == nil {
		return nil, false
	}
	f := respond.Told(ctx, err)
	switch f.Kind {
	case fault.Invalid, fault.Conflict, fault.RateLimited, fault.Upstream:
		return f, true
	default:
		return nil, false
	}
}

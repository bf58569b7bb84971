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

// secretFields are never sent back to a page, which may be cached, saved or seen by others.
var secretFields = map[string]bool{
	"auth.token": true, "auth.key": true, "auth.password": true,
	"auth.client_secret": true, "auth.private_key": true,
	"token": true, "key": true, "password": true, "client_secret": true, "private_key": true, "env": true,
	"current_password": true, "new_password": true,
}

// postedForm holds the values that a browser sent.
type postedForm struct{ values url.Values }

func readForm(r *http.Request) (postedForm, error) {
	if err := r.ParseForm(); err != nil {
		if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
			return postedForm{}, err
		}
		return postedForm{}, fault.Wrap(fault.Malformed, err, "This form cannot be read.")
	}
	return postedForm{values: r.PostForm}, nil
}

// text is a field's value without surrounding space.
func (f postedForm) text(name string) string { return strings.TrimSpace(f.values.Get(name)) }

// secret is a field's value without a trailing line break, which a paste may add.
func (f postedForm) secret(name string) secret.Text {
	return secret.Text(strings.Trim(f.values.Get(name), "\r\n"))
}

// number is a field's integer. An invalid one is -1, which every rule refuses; a missing one is before.
func (f postedForm) number(name string, before int) int {
	if !f.values.Has(name) {
		return before
	}
	n, err := strconv.Atoi(f.text(name))
	if err != nil {
		return -1
	}
	return n
}

func (f postedForm) checked(name string) bool { return f.values.Get(name) == "true" }

// toForm is the form as it was typed, without secrets, with the errors of err.
func (f postedForm) toForm(err *fault.Error) templates.Form {
	view := templates.Form{Values: map[string]string{}, Errors: map[string]string{}}
	for name := range f.values {
		if !secretFields[name] {
			view.Values[name] = f.values.Get(name)
		}
	}
	if err == nil {
		return view
	}
	for _, field := range err.Fields {
		view.Errors[field.Location] = field.Message
	}
	if len(err.Fields) == 0 {
		view.Problem = err.Message
	}
	return view
}

// asFormFault returns the translated fault if the person can correct it in the form. Any other error, nil
// included, is the handler's to return.
func asFormFault(ctx context.Context, err error) (*fault.Error, bool) {
	if err == nil {
		return nil, false
	}
	f := respond.LocalizedFault(ctx, err)
	switch f.Kind {
	case fault.Invalid, fault.Conflict, fault.RateLimited, fault.Upstream:
		return f, true
	default:
		return nil, false
	}
}

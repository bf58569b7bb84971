package shell

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/respond"
	"patchbay/internal/secret"
	"patchbay/web/templates"
)

// secretFields are never sent back to a page, which may be cached, saved or seen by others.
var secretFields = map[string]bool{
	"auth.token": true, "auth.key": true, "auth.password": true,
	"auth.client_secret": true, "auth.private_key": true,
	"token": true, "key": true, "password": true, "client_secret": true, "private_key": true, "env": true, "curl": true,
	"current_password": true, "new_password": true,
}

// PostedForm holds the values that a browser sent.
type PostedForm struct{ Values url.Values }

// ReadForm reads the posted form. A body that is too large or malformed is an error for the person.
func ReadForm(r *http.Request) (PostedForm, error) {
	if err := r.ParseForm(); err != nil {
		return PostedForm{}, formError(err)
	}
	return PostedForm{Values: r.PostForm}, nil
}

// formError is the error of reading a form: too large, or malformed.
func formError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	return fault.Wrap(fault.Malformed, err, "Can't read this form.")
}

// Text is a field's value without surrounding space.
func (f PostedForm) Text(name string) string { return strings.TrimSpace(f.Values.Get(name)) }

// Secret is a field's value without a trailing line break, which a paste may add.
func (f PostedForm) Secret(name string) secret.Text {
	return secret.Text(strings.Trim(f.Values.Get(name), "\r\n"))
}

// HasSecrets reports whether a secret was typed.
func (f PostedForm) HasSecrets() bool {
	for name := range f.Values {
		if secretFields[name] && f.Text(name) != "" {
			return true
		}
	}
	return false
}

// Number is a field's integer. An invalid one is -1, which every rule refuses; a missing one is before.
func (f PostedForm) Number(name string, before int) int {
	if !f.Values.Has(name) {
		return before
	}
	n, err := strconv.Atoi(f.Text(name))
	if err != nil {
		return -1
	}
	return n
}

// Checked reports whether a checkbox is set.
func (f PostedForm) Checked(name string) bool { return f.Values.Get(name) == "true" }

// ToForm is the form as it was typed, without secrets, with the errors of err.
func (f PostedForm) ToForm(err *fault.Error) templates.Form {
	view := templates.Form{Values: map[string]string{}, Errors: map[string]string{}}
	for name := range f.Values {
		if !secretFields[name] {
			view.Values[name] = f.Values.Get(name)
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

// AsFormFault returns the translated fault if the person can correct it in the form. Any other error, nil
// included, is the handler's to return.
func AsFormFault(ctx context.Context, err error) (*fault.Error, bool) {
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

// ReadLastDay reads a date, and returns its end in UTC; nil if it is empty.
func (f PostedForm) ReadLastDay(name string) (*time.Time, error) {
	typed := f.Text(name)
	if typed == "" {
		return nil, nil
	}
	day, err := time.Parse(time.DateOnly, typed)
	if err != nil {
		return nil, fault.InvalidFields(fault.Field{Location: name, Message: "Enter a date like 2027-01-31."})
	}
	end := day.AddDate(0, 0, 1)
	return &end, nil
}

package respond

import (
	"context"
	"html/template"
	"io"

	"github.com/a-h/templ"

	"patchbay/internal/fault"
)

var plainError = template.Must(template.New("error").Parse(`<!doctype html><title>{{.}}</title><p>{{.}}</p>`))

func errorPage(f *fault.Error) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error { return plainError.Execute(w, f.Message) })
}

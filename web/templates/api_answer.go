package templates

import (
	"context"

	"patchbay/internal/i18n"
)

// AnnotationFields are the fields of a tool's annotations.
var AnnotationFields = []string{"annotations.readOnlyHint", "annotations.destructiveHint", "annotations.idempotentHint", "annotations.openWorldHint"}

func annotationOptions(ctx context.Context) []Option {
	return []Option{{"", i18n.T(ctx, "From the method")}, {"true", i18n.T(ctx, "Yes")}, {"false", i18n.T(ctx, "No")}}
}

// APIAnswer says how the answer of an HTTP API becomes the result of a tool. Its forms post filter, max_pages and do ("test" or
// "save"), or annotations and do ("annotate"), to Action.
type APIAnswer struct {
	Action      string
	Can         bool // the person may change it
	Form        Form
	Annotations Form    // by [AnnotationFields]
	HasPages    bool    // the document shows how to page
	Facts       []Fact  // without Can
	Result      *Result // of the test; nil: there was none
}

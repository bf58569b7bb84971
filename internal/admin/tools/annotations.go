package tools

import (
	"context"

	"patchbay/internal/connectors"
	"patchbay/internal/fault"
	"patchbay/internal/i18n"
	"patchbay/web/templates"
)

// AnnotationPrefix begins the names of the fields of a tool's annotations.
const AnnotationPrefix = "annotations."

// FillAnnotations sets the values of a form's annotations. Those that no person set are left out.
func FillAnnotations(values map[string]string, annotations map[string]bool) {
	for name, value := range annotations {
		values[AnnotationPrefix+name] = map[bool]string{true: "true", false: "false"}[value]
	}
}

// ReadAnnotations reads the annotations of a form. An empty field is that of the method.
func ReadAnnotations(value func(name string) string) (map[string]bool, error) {
	annotations := map[string]bool{}
	for _, name := range connectors.APIAnnotations {
		switch value(AnnotationPrefix + name) {
		case "":
		case "true":
			annotations[name] = true
		case "false":
			annotations[name] = false
		default:
			return nil, fault.InvalidFields(fault.Field{Location: AnnotationPrefix + name, Message: "Pick one of the options."})
		}
	}
	return annotations, nil
}

// annotationFacts say which annotations a person set.
func annotationFacts(ctx context.Context, annotations map[string]bool) (facts []templates.Fact) {
	yes := map[bool]string{true: i18n.T(ctx, "yes"), false: i18n.T(ctx, "no")}
	for _, o := range HintOptions(ctx) {
		if value, isSet := annotations[o.Value]; isSet {
			facts = append(facts, templates.Fact{Label: o.Label, Value: yes[value]})
		}
	}
	return facts
}

package fault

import "errors"

// Sentences returns an error for the operator: a fault's sentence, and one for each wrong field. An
// unforeseen error is shown whole, because the operator owns the machine.
func Sentences(err error) []string {
	f, ok := errors.AsType[*Error](err)
	switch {
	case !ok:
		return []string{err.Error()}
	case len(f.Fields) > 0:
		var lines []string
		for _, field := range f.Fields {
			lines = append(lines, field.Message)
		}
		return lines
	case f.Kind == Internal && f.Err != nil:
		return []string{f.Error()}
	}
	return []string{f.Message}
}

// MergeFields merges the faults of several checks, so that a person can fix all settings at once.
func MergeFields(errs ...error) error {
	var fields []Field
	for _, err := range errs {
		if err != nil {
			fields = append(fields, As(err).Fields...)
		}
	}
	return InvalidFields(fields...)
}

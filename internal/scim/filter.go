package scim

import (
	"net/http"
	"regexp"
	"strings"

	library "github.com/elimity-com/scim"
	scimerrors "github.com/elimity-com/scim/errors"
	"github.com/google/uuid"
	parser "github.com/scim2/filter-parser/v2"

	"patchbay/internal/connectors"
)

// nothing is an id that no resource has.
var nothing = uuid.UUID{}

// workEmail is how Microsoft Entra asks for an address, which is no filter of RFC 7644. A user has one address here.
var workEmail = regexp.MustCompile(`(?i)\bemails\[\s*type\s+eq\s+"work"\s*\]\.value(\s+eq\s)`)

// expandWorkEmail replaces a request's filter for the address of type work by one for the address.
func expandWorkEmail(r *http.Request) {
	q := r.URL.Query()
	if filter := q.Get("filter"); workEmail.MatchString(filter) {
		q.Set("filter", workEmail.ReplaceAllString(filter, "emails.value$1"))
		r.URL.RawQuery = q.Encode()
	}
}

// toFilter reads a filter of equalities that "and" joins: what Okta and Entra send.
func toFilter(p library.ListRequestParams) (connectors.SCIMFilter, error) {
	var f connectors.SCIMFilter
	if p.FilterValidator == nil {
		return f, nil
	}
	return f, addCondition(&f, p.FilterValidator.GetFilter())
}

func addCondition(f *connectors.SCIMFilter, e parser.Expression) error {
	switch e := e.(type) {
	case *parser.LogicalExpression:
		if e.Operator != parser.AND {
			return newFilterError()
		}
		if err := addCondition(f, e.Left); err != nil {
			return err
		}
		return addCondition(f, e.Right)
	case *parser.ValuePath: // emails[value eq "x"], and with a type
		return addPathCondition(f, e.AttributePath.AttributeName, e.ValueFilter)
	case *parser.AttributeExpression:
		if e.Operator != parser.EQ {
			return newFilterError()
		}
		return addEquality(f, e.AttributePath.AttributeName, e.AttributePath.SubAttributeName(), e.CompareValue)
	default:
		return newFilterError()
	}
}

func addPathCondition(f *connectors.SCIMFilter, attribute string, e parser.Expression) error {
	equality, ok := e.(*parser.AttributeExpression)
	if !ok || equality.Operator != parser.EQ {
		return newFilterError()
	}
	return addEquality(f, attribute, equality.AttributePath.AttributeName, equality.CompareValue)
}

func addEquality(f *connectors.SCIMFilter, attribute, part string, value any) error {
	text, isText := value.(string)
	switch name := strings.ToLower(attribute + "." + part); {
	case name == "active." && isText && (strings.EqualFold(text, "true") || strings.EqualFold(text, "false")):
		return setCondition(&f.Active, strings.EqualFold(text, "true"))
	case name == "active.":
		active, ok := value.(bool)
		if !ok {
			return newFilterError()
		}
		return setCondition(&f.Active, active)
	case !isText:
		return newFilterError()
	case name == "id.":
		return setCondition(&f.ID, parseOrNothing(text))
	case name == "username.":
		return setCondition(&f.UserName, text)
	case name == "externalid.":
		return setCondition(&f.ExternalID, text)
	case name == "emails." || name == "emails.value":
		return setCondition(&f.Email, text)
	case name == "displayname.":
		return setCondition(&f.DisplayName, text)
	case name == "members." || name == "members.value":
		return setCondition(&f.Member, parseOrNothing(text))
	default:
		return newFilterError()
	}
}

// setCondition sets a condition once.
func setCondition[T comparable](field **T, value T) error {
	if *field != nil && **field != value {
		return newFilterError()
	}
	*field = &value
	return nil
}

func parseOrNothing(id string) uuid.UUID {
	if parsed, err := uuid.Parse(id); err == nil {
		return parsed
	}
	return nothing
}

func newFilterError() error {
	return newSCIMError(http.StatusBadRequest, scimerrors.ScimTypeInvalidFilter,
		"Filters compare id, userName, externalId, emails.value, active, displayName and members with eq, joined by and.")
}

package scim

import (
	"net/http"
	"reflect"
	"strings"

	library "github.com/elimity-com/scim"
	scimerrors "github.com/elimity-com/scim/errors"
	"github.com/elimity-com/scim/filter"
	"github.com/elimity-com/scim/schema"
	parser "github.com/scim2/filter-parser/v2"
)

// membersAttribute is the attribute of groups that paths select from.
var membersAttribute, _ = groupSchema.Attributes.ContainsAttribute(attrMembers)

// applyPatch applies an operation to a user's attributes (RFC 7644 section 3.5.2). The library has checked the value by
// the schema.
func applyPatch(a library.ResourceAttributes, op library.PatchOperation) error {
	if op.Path != nil {
		return applyAt(a, op.Op, *op.Path, op.Value)
	}
	values, _ := op.Value.(map[string]any)
	for name, value := range values {
		if extension, ok := value.(map[string]any); ok && name == enterpriseSchema.ID {
			if err := applyPatch(extensionOf(a), library.PatchOperation{Op: op.Op, Value: extension}); err != nil {
				return err
			}
			continue
		}
		path, err := parser.ParsePath([]byte(name)) // Entra sends name.givenName and emails[type eq "work"].value as names
		if err != nil {
			return newPathError()
		}
		if err := applyAt(a, op.Op, path, value); err != nil {
			return err
		}
	}
	return nil
}

// extensionOf returns the attributes of the enterprise extension.
func extensionOf(a library.ResourceAttributes) library.ResourceAttributes {
	extension, ok := a[enterpriseSchema.ID].(map[string]any)
	if !ok {
		extension = map[string]any{}
		a[enterpriseSchema.ID] = extension
	}
	return extension
}

// applyAt applies an operation to the attribute at a path.
func applyAt(a library.ResourceAttributes, op string, path parser.Path, value any) error {
	attribute, ok := userSchema.Attributes.ContainsAttribute(path.AttributePath.AttributeName)
	if strings.EqualFold(path.AttributePath.URI(), enterpriseSchema.ID) {
		a = extensionOf(a)
	}
	if extension, found := enterpriseSchema.Attributes.ContainsAttribute(path.AttributePath.AttributeName); found && !ok {
		attribute, ok = extension, true
	}
	name := attribute.Name()
	if !ok {
		if !strings.EqualFold(path.AttributePath.AttributeName, attrExternalID) {
			return newPathError()
		}
		name = attrExternalID
	}
	part := path.SubAttributeName()
	if part == "" {
		part = path.AttributePath.SubAttributeName()
	}
	if sub, ok := attribute.SubAttributes().ContainsAttribute(part); ok {
		part = sub.Name()
	}
	t := patchTarget{attribute: attribute, part: part, op: op, value: value}
	switch {
	case op == library.PatchOperationRemove && part == "" && path.ValueExpression == nil:
		delete(a, name)
	case attribute.MultiValued():
		return t.applyToList(a, name, path.ValueExpression)
	case part != "":
		t.setPart(objectAt(a, name))
	default:
		setValue(a, name, value)
	}
	return nil
}

// objectAt returns the object of a complex attribute.
func objectAt(a map[string]any, name string) map[string]any {
	object, ok := a[name].(map[string]any)
	if !ok {
		object = map[string]any{}
		a[name] = object
	}
	return object
}

// setValue sets an attribute. The parts of a complex one that the value lacks stay.
func setValue(a map[string]any, name string, value any) {
	parts, ok := value.(map[string]any)
	if !ok {
		a[name] = value
		return
	}
	object := objectAt(a, name)
	for part, v := range parts {
		object[part] = v
	}
}

// patchTarget is what an operation does to values of an attribute.
type patchTarget struct {
	attribute schema.CoreAttribute
	part      string // of each value; empty: the whole value
	op        string
	value     any
}

// setPart applies the operation to a part of a value.
func (t patchTarget) setPart(object map[string]any) {
	if t.op == library.PatchOperationRemove {
		delete(object, t.part)
		return
	}
	object[t.part] = t.value
}

// applyToList applies the operation to the values that an expression selects; nil: all.
func (t patchTarget) applyToList(a map[string]any, name string, selects parser.Expression) error {
	list, _ := a[name].([]any)
	switch {
	case selects == nil && t.part == "" && t.op == library.PatchOperationReplace:
		a[name] = t.value
		return nil
	case selects == nil && t.part == "":
		a[name] = appendValues(list, t.value)
		return nil
	}
	kept, found := list[:0:0], false
	for _, one := range list {
		object, ok := one.(map[string]any)
		if !ok || selects != nil && !selectsValue(t.attribute, selects, object) {
			kept = append(kept, one)
			continue
		}
		found = true
		if t.part == "" && t.op == library.PatchOperationRemove {
			continue
		}
		if t.part != "" {
			t.setPart(object)
		} else if values, ok := t.value.(map[string]any); ok {
			for part, v := range values {
				object[part] = v
			}
		}
		kept = append(kept, object)
	}
	if !found && t.op != library.PatchOperationRemove {
		made, err := t.newValue(selects)
		if err != nil {
			return err
		}
		kept = append(kept, made)
	}
	a[name] = kept
	return nil
}

// newValue returns the value that an expression like type eq "work" describes, with the operation's part: Entra adds a
// first work address by this path.
func (t patchTarget) newValue(selects parser.Expression) (map[string]any, error) {
	equality, ok := selects.(*parser.AttributeExpression)
	if !ok || equality.Operator != parser.EQ {
		return nil, newSCIMError(http.StatusBadRequest, scimerrors.ScimTypeNoTarget, "No value matches the path.")
	}
	named, ok := t.attribute.SubAttributes().ContainsAttribute(equality.AttributePath.AttributeName)
	if !ok {
		return nil, newPathError()
	}
	made := map[string]any{named.Name(): equality.CompareValue}
	if t.part != "" {
		made[t.part] = t.value
	} else if values, ok := t.value.(map[string]any); ok {
		for part, v := range values {
			made[part] = v
		}
	}
	return made, nil
}

// appendValues appends the values that the list lacks. A new primary value is the only one.
func appendValues(list []any, value any) []any {
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	for _, one := range values {
		if containsValue(list, one) {
			continue
		}
		if object, ok := one.(map[string]any); ok && object["primary"] == true {
			for _, other := range list {
				if object, ok := other.(map[string]any); ok {
					delete(object, "primary")
				}
			}
		}
		list = append(list, one)
	}
	return list
}

func containsValue(list []any, value any) bool {
	for _, one := range list {
		if reflect.DeepEqual(one, value) {
			return true
		}
	}
	return false
}

// selectsValue reports whether an expression selects a value of an attribute.
func selectsValue(attribute schema.CoreAttribute, selects parser.Expression, value map[string]any) bool {
	return filter.NewFilterValidator(selects, schema.Schema{Attributes: attribute.SubAttributes()}).PassesFilter(value) == nil
}

func newPathError() error {
	return newSCIMError(http.StatusBadRequest, scimerrors.ScimTypeInvalidPath, "The path names nothing that can be changed so.")
}

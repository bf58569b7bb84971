package agentview

// keyword is a JSON Schema keyword that a plan knows.
type keyword uint8

const (
	kwRef keyword = iota
	kwDynamicRef
	kwRecursiveRef
	kwID
	kwType
	kwEnum
	kwConst
	kwMultipleOf
	kwMinimum
	kwMaximum
	kwExclusiveMinimum
	kwExclusiveMaximum
	kwMinLength
	kwMaxLength
	kwPattern
	kwItems
	kwPrefixItems
	kwAdditionalItems
	kwMinItems
	kwMaxItems
	kwUniqueItems
	kwContains
	kwMinContains
	kwMaxContains
	kwUnevaluatedItems
	kwProperties
	kwPatternProperties
	kwAdditionalProperties
	kwPropertyNames
	kwRequired
	kwMinProperties
	kwMaxProperties
	kwDependentRequired
	kwDependentSchemas
	kwDependencies
	kwUnevaluatedProperties
	kwAllOf
	kwAnyOf
	kwOneOf
	kwNot
	kwIf
	kwThen
	kwElse
	keywordCount
)

var keywordNames = [keywordCount]string{
	"$ref", "$dynamicRef", "$recursiveRef", "$id", "type", "enum", "const", "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum",
	"minLength", "maxLength", "pattern", "items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems",
	"contains", "minContains", "maxContains", "unevaluatedItems", "properties", "patternProperties", "additionalProperties",
	"propertyNames", "required", "minProperties", "maxProperties", "dependentRequired", "dependentSchemas", "dependencies",
	"unevaluatedProperties", "allOf", "anyOf", "oneOf", "not", "if", "then", "else",
}

var keywordsByName = func() map[string]keyword {
	all := make(map[string]keyword, keywordCount)
	for k, name := range keywordNames {
		all[name] = keyword(k)
	}
	return all
}()

// keywordOffsets holds the offset of each keyword's value in the schema; 0: absent.
type keywordOffsets [keywordCount]int

func (k *keywordOffsets) has(word keyword) bool { return k[word] != 0 }

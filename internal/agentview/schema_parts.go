package agentview

import "strconv"

func (n *schemaNode) compileSubschema(word keyword) *plan {
	if !n.hasKeyword(word) {
		return nil
	}
	return n.schemaCompiler.compileAt(n.offsets[word], n.path.childPath(keywordNames[word]))
}

// compileSubschemas compiles an array of schemas, including those that accept everything.
func (n *schemaNode) compileSubschemas(word keyword) []*plan {
	if !n.hasKeyword(word) {
		return nil
	}
	pos := n.offsets[word]
	if n.text[pos] != '[' {
		n.markUnchecked(word, typeAny, UncheckedKeyword)
		return nil
	}
	all := []*plan{}
	path := n.path.childPath(keywordNames[word])
	whole := n.eachItem(pos, func(item int) bool {
		if !n.addEntry(0) {
			return false
		}
		all = append(all, n.schemaCompiler.compileAt(item, path.childPath(strconv.Itoa(len(all)))))
		return true
	})
	if !whole {
		n.markUnchecked(word, typeAny, UncheckedSize)
		return nil
	}
	return all
}

func (n *schemaNode) compileArrayKeywords() {
	n.minItems, n.maxItems = n.readCount(kwMinItems, 0, typeArray), n.readCount(kwMaxItems, -1, typeArray)
	n.compileItems()
	if n.hasKeyword(kwUniqueItems) {
		switch n.text[n.offsets[kwUniqueItems]] {
		case 't':
			n.ensureRare().uniqueItems = true
		case 'f':
		default:
			n.markUnchecked(kwUniqueItems, typeArray, UncheckedKeyword)
		}
	}
	if n.hasKeyword(kwContains) {
		o := n.ensureRare()
		o.contains, o.hasContains = n.compileSubschema(kwContains), true
		o.minContains, o.maxContains = n.readCount(kwMinContains, 1, typeArray), n.readCount(kwMaxContains, -1, typeArray)
	}
	if n.hasKeyword(kwUnevaluatedItems) {
		o := n.ensureRare()
		o.unevaluatedItems, o.hasUnevaluatedItems = n.compileSubschema(kwUnevaluatedItems), true
	}
}

// compileItems compiles items. In draft-07 they may be an array, followed by additionalItems.
func (n *schemaNode) compileItems() {
	rest, first := kwItems, kwPrefixItems
	switch list := n.hasKeyword(kwItems) && n.text[n.offsets[kwItems]] == '['; {
	case n.isDraft7 && list:
		rest, first = kwAdditionalItems, kwItems
	case n.isDraft7:
		first = keywordCount
	case list: // not valid in 2020-12
		rest = keywordCount
	}
	if first < keywordCount && n.hasKeyword(first) {
		n.ensureRare().prefixItems = n.compileSubschemas(first)
	}
	if rest < keywordCount && n.hasKeyword(rest) {
		if n.items = n.compileSubschema(rest); n.hasUnevaluated {
			n.ensureRare().hasItems = true
		}
	}
}

func (n *schemaNode) compileObjectKeywords() {
	n.compileProperties()
	n.required = n.readNames(kwRequired)
	for _, name := range n.required {
		n.trackProperty(name)
	}
	if n.hasKeyword(kwAdditionalProperties) {
		if n.additionalProperties = n.compileSubschema(kwAdditionalProperties); n.hasUnevaluated || n.hasKeyword(kwPatternProperties) {
			n.ensureRare()
		}
	}
	n.compilePatternProperties()
	if n.hasKeyword(kwPropertyNames) {
		n.ensureRare().propertyNames = n.compileSubschema(kwPropertyNames)
	}
	if n.hasKeyword(kwMinProperties) || n.hasKeyword(kwMaxProperties) {
		o := n.ensureRare()
		o.minProperties, o.maxProperties = n.readCount(kwMinProperties, 0, typeObject), n.readCount(kwMaxProperties, -1, typeObject)
	}
	n.compileDependencies()
	if n.hasKeyword(kwUnevaluatedProperties) {
		o := n.ensureRare()
		o.unevaluatedProperties, o.hasUnevaluatedProperties = n.compileSubschema(kwUnevaluatedProperties), true
	}
	n.setRequired()
}

func (n *schemaNode) compileProperties() {
	if !n.hasKeyword(kwProperties) {
		return
	}
	whole := n.eachNamedValue(kwProperties, func(name string, value int) {
		n.updateProperty(name, func(m *propertyPlan) {
			m.plan, m.inProperties = n.schemaCompiler.compileAt(value, n.path.childPath("properties", name)), true
		})
	})
	if !whole && n.hasKeyword(kwAdditionalProperties) {
		n.offsets[kwAdditionalProperties] = 0 // the additional ones are unknown
	}
}

// eachNamedValue calls yield for each member of an object keyword and reports whether it reached the end.
func (n *schemaNode) eachNamedValue(word keyword, yield func(name string, value int)) bool {
	pos := n.offsets[word]
	if n.text[pos] != '{' {
		n.markUnchecked(word, typeObject, UncheckedKeyword)
		return false
	}
	whole := n.eachMember(pos, func(text jsonString, _, value int) bool {
		name := string(n.unescapeString(text))
		if !n.addEntry(len(name)) {
			return false
		}
		yield(name, value)
		return true
	})
	if !whole {
		n.markUnchecked(word, typeObject, UncheckedSize)
	}
	return whole
}

func (n *schemaNode) updateProperty(name string, change func(*propertyPlan)) {
	if n.plan.properties == nil {
		n.plan.properties = map[string]propertyPlan{}
	}
	m := n.plan.properties[name]
	change(&m)
	n.plan.properties[name] = m
	n.maxNameBytes = max(n.maxNameBytes, len(name))
}

// trackProperty assigns an index to a property.
func (n *schemaNode) trackProperty(name string) (index int) {
	n.updateProperty(name, func(m *propertyPlan) {
		if m.index == 0 {
			n.trackedCount++
			m.index = n.trackedCount
		}
		index = m.index
	})
	return index
}

// readNames returns the value of a keyword that is an array of names.
func (n *schemaNode) readNames(word keyword) []string {
	if !n.hasKeyword(word) {
		return nil
	}
	all, ok := n.readNamesAt(n.offsets[word])
	if !ok {
		n.markUnchecked(word, typeObject, UncheckedKeyword)
	}
	return all
}

func (n *schemaNode) readNamesAt(pos int) (all []string, ok bool) {
	if n.text[pos] != '[' {
		return nil, false
	}
	whole := n.eachItem(pos, func(item int) bool {
		if n.text[item] != '"' {
			return false
		}
		text, _ := n.readString(item)
		name := string(n.unescapeString(text))
		if !n.addEntry(2 * len(name)) {
			return false
		}
		all = append(all, name)
		return true
	})
	if !whole {
		return nil, false
	}
	return all, true
}

func (n *schemaNode) compilePatternProperties() {
	if !n.hasKeyword(kwPatternProperties) {
		return
	}
	o := n.ensureRare()
	whole := n.eachNamedValue(kwPatternProperties, func(name string, value int) {
		where := n.path.childPath("patternProperties", name)
		o.patternProperties = append(o.patternProperties, patternProperty{n.schemaCompiler.compilePattern(name, where), n.schemaCompiler.compileAt(value, where)})
	})
	if !whole {
		o.patternProperties = append(o.patternProperties, patternProperty{&pattern{}, nil})
	}
}

func (n *schemaNode) compileDependencies() {
	for _, word := range []keyword{kwDependentRequired, kwDependentSchemas, kwDependencies} {
		if !n.hasKeyword(word) || n.isDraft7 != (word == kwDependencies) {
			continue
		}
		n.ensureRare()
		n.eachNamedValue(word, func(name string, value int) {
			d := dependency{trigger: n.trackProperty(name)}
			if word == kwDependentSchemas || n.text[value] != '[' {
				d.plan = n.schemaCompiler.compileAt(value, n.path.childPath(keywordNames[word], name))
			} else {
				names, ok := n.readNamesAt(value)
				if !ok {
					n.markUnchecked(word, typeObject, UncheckedKeyword)
				}
				for _, name := range names {
					d.required = append(d.required, n.trackProperty(name))
				}
			}
			n.rare.dependents = append(n.rare.dependents, d)
		})
	}
}

func (n *schemaNode) setRequired() {
	if n.trackedCount > 64 {
		n.ensureRare()
	}
	for _, name := range n.required {
		index := n.plan.properties[name].index
		if n.trackedCount > 64 {
			n.rare.requiredIndexes = append(n.rare.requiredIndexes, index)
		} else {
			n.requiredBits |= 1 << (index - 1)
		}
	}
}

// compileCombinators compiles allOf, anyOf, oneOf, not and if.
func (n *schemaNode) compileCombinators() {
	n.plan.allOf = append(n.plan.allOf, n.compileSubschemas(kwAllOf)...)
	n.plan.anyOf = n.compileSubschemas(kwAnyOf)
	if n.hasKeyword(kwOneOf) {
		n.ensureRare().oneOf = n.compileSubschemas(kwOneOf)
	}
	if n.hasKeyword(kwNot) {
		n.ensureRare().not, n.rare.hasNot = n.compileSubschema(kwNot), true
	}
	if n.hasKeyword(kwIf) {
		o := n.ensureRare()
		o.ifPlan, o.hasIf = n.compileSubschema(kwIf), n.hasKeyword(kwThen) || n.hasKeyword(kwElse) || n.hasUnevaluated
		o.thenPlan, o.elsePlan = n.compileSubschema(kwThen), n.compileSubschema(kwElse)
	}
}

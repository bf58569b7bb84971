package access

import "strconv"

// one compiles a keyword whose value is a schema.
func (n *node) one(word keyword) *plan {
	if !n.has(word) {
		return nil
	}
	return n.compiler.schema(n.at[word], n.where.within(keywordNames[word]))
}

// list compiles a keyword whose value is an array of schemas. Those that accept everything are plans, too.
func (n *node) list(word keyword) []*plan {
	if !n.has(word) {
		return nil
	}
	at := n.at[word]
	if n.text[at] != '[' {
		n.leaveOut(word, isAny, UncheckedKeyword)
		return nil
	}
	all := []*plan{}
	whole := n.eachItem(at, func(item int) bool {
		if !n.entry(0) {
			return false
		}
		all = append(all, n.compiler.schema(item, n.where.within(keywordNames[word], strconv.Itoa(len(all)))))
		return true
	})
	if !whole {
		n.leaveOut(word, isAny, UncheckedSize)
		return nil
	}
	return all
}

// arrays compiles what is said of items.
func (n *node) arrays() {
	n.minItems, n.maxItems = n.count(kwMinItems, 0, isArray), n.count(kwMaxItems, -1, isArray)
	n.itemPlans()
	if n.has(kwUniqueItems) {
		switch n.text[n.at[kwUniqueItems]] {
		case 't':
			n.odd().unique = true
		case 'f':
		default:
			n.leaveOut(kwUniqueItems, isArray, UncheckedKeyword)
		}
	}
	if n.has(kwContains) {
		o := n.odd()
		o.contains, o.counts = n.one(kwContains), true
		o.minContains, o.maxContains = n.count(kwMinContains, 1, isArray), n.count(kwMaxContains, -1, isArray)
	}
	if n.has(kwUnevaluatedItems) {
		o := n.odd()
		o.unevaluatedItems, o.evaluatesItems = n.one(kwUnevaluatedItems), true
	}
}

// itemPlans compiles items: in draft-07 they may be an array, and additionalItems applies to what is behind it.
func (n *node) itemPlans() {
	rest, first := kwItems, kwPrefixItems
	switch list := n.has(kwItems) && n.text[n.at[kwItems]] == '['; {
	case n.draft7 && list:
		rest, first = kwAdditionalItems, kwItems
	case n.draft7:
		first = keywordCount
	case list: // of an older dialect: it says nothing here
		rest = keywordCount
	}
	if first < keywordCount && n.has(first) {
		n.odd().prefix = n.list(first)
	}
	if rest < keywordCount && n.has(rest) {
		if n.items = n.one(rest); n.evaluates {
			n.odd().allItems = true
		}
	}
}

// objects compiles what is said of members.
func (n *node) objects() {
	n.properties()
	n.required = n.names(kwRequired)
	for _, name := range n.required {
		n.track(name)
	}
	if n.has(kwAdditionalProperties) {
		if n.others = n.one(kwAdditionalProperties); n.evaluates || n.has(kwPatternProperties) {
			n.odd()
		}
	}
	n.patternMembers()
	if n.has(kwPropertyNames) {
		n.odd().names = n.one(kwPropertyNames)
	}
	if n.has(kwMinProperties) || n.has(kwMaxProperties) {
		o := n.odd()
		o.minMembers, o.maxMembers = n.count(kwMinProperties, 0, isObject), n.count(kwMaxProperties, -1, isObject)
	}
	n.dependents()
	if n.has(kwUnevaluatedProperties) {
		o := n.odd()
		o.unevaluatedMembers, o.evaluatesMembers = n.one(kwUnevaluatedProperties), true
	}
	n.need()
}

func (n *node) properties() {
	if !n.has(kwProperties) {
		return
	}
	whole := n.eachNamed(kwProperties, func(name string, value int) {
		n.memberOf(name, func(m *member) {
			m.plan, m.declared = n.compiler.schema(value, n.where.within("properties", name)), true
		})
	})
	if !whole && n.has(kwAdditionalProperties) {
		n.at[kwAdditionalProperties] = 0 // which they are cannot be known
	}
}

// eachNamed visits the members of a keyword whose value is an object, and reports whether all could be.
func (n *node) eachNamed(word keyword, visit func(name string, value int)) bool {
	at := n.at[word]
	if n.text[at] != '{' {
		n.leaveOut(word, isObject, UncheckedKeyword)
		return false
	}
	whole := n.eachMember(at, func(text quoted, _, value int) bool {
		name := string(n.unescaped(text))
		if !n.entry(len(name)) {
			return false
		}
		visit(name, value)
		return true
	})
	if !whole {
		n.leaveOut(word, isObject, UncheckedSize)
	}
	return whole
}

// memberOf changes what is said of a member.
func (n *node) memberOf(name string, change func(*member)) {
	if n.plan.members == nil {
		n.plan.members = map[string]member{}
	}
	m := n.plan.members[name]
	change(&m)
	n.plan.members[name] = m
	n.longest = max(n.longest, len(name))
}

// track gives a member an index.
func (n *node) track(name string) (index int) {
	n.memberOf(name, func(m *member) {
		if m.index == 0 {
			n.tracked++
			m.index = n.tracked
		}
		index = m.index
	})
	return index
}

// names reads a keyword whose value is an array of names.
func (n *node) names(word keyword) []string {
	if !n.has(word) {
		return nil
	}
	all, ok := n.namesAt(n.at[word])
	if !ok {
		n.leaveOut(word, isObject, UncheckedKeyword)
	}
	return all
}

func (n *node) namesAt(at int) (all []string, ok bool) {
	if n.text[at] != '[' {
		return nil, false
	}
	whole := n.eachItem(at, func(item int) bool {
		if n.text[item] != '"' {
			return false
		}
		text, _ := n.quoted(item)
		name := string(n.unescaped(text))
		if !n.entry(2 * len(name)) {
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

func (n *node) patternMembers() {
	if !n.has(kwPatternProperties) {
		return
	}
	o := n.odd()
	whole := n.eachNamed(kwPatternProperties, func(name string, value int) {
		where := n.where.within("patternProperties", name)
		o.patterns = append(o.patterns, patternMember{n.compiler.pattern(name, where), n.compiler.schema(value, where)})
	})
	if !whole {
		o.patterns = append(o.patterns, patternMember{&pattern{}, nil})
	}
}

// dependents compiles what is said where a member is there.
func (n *node) dependents() {
	for _, word := range []keyword{kwDependentRequired, kwDependentSchemas, kwDependencies} {
		if !n.has(word) || n.draft7 != (word == kwDependencies) {
			continue
		}
		n.odd()
		n.eachNamed(word, func(name string, value int) {
			d := dependent{trigger: n.track(name)}
			if word == kwDependentSchemas || n.text[value] != '[' {
				d.plan = n.compiler.schema(value, n.where.within(keywordNames[word], name))
			} else {
				names, ok := n.namesAt(value)
				if !ok {
					n.leaveOut(word, isObject, UncheckedKeyword)
				}
				for _, name := range names {
					d.needed = append(d.needed, n.track(name))
				}
			}
			n.rare.dependents = append(n.rare.dependents, d)
		})
	}
}

// need notes which members must be there.
func (n *node) need() {
	if n.tracked > 64 {
		n.odd()
	}
	for _, name := range n.required {
		index := n.plan.members[name].index
		if n.tracked > 64 {
			n.rare.needed = append(n.rare.needed, index)
		} else {
			n.needed |= 1 << (index - 1)
		}
	}
}

// combinations compiles the schemas that apply to the same value.
func (n *node) combinations() {
	n.plan.all = append(n.plan.all, n.list(kwAllOf)...)
	n.plan.anyOf = n.list(kwAnyOf)
	if n.has(kwOneOf) {
		n.odd().oneOf = n.list(kwOneOf)
	}
	if n.has(kwNot) {
		n.odd().not, n.rare.negates = n.one(kwNot), true
	}
	if n.has(kwIf) {
		o := n.odd()
		o.condition, o.conditional = n.one(kwIf), n.has(kwThen) || n.has(kwElse) || n.evaluates
		o.then, o.otherwise = n.one(kwThen), n.one(kwElse)
	}
}

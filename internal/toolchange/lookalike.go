package toolchange

// lookalikes maps Cyrillic and Greek letters to the Latin ones that they imitate in names (Unicode Technical
// Standard 39, confusables), in lower case.
var lookalikes = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm', 'о': 'o', 'р': 'p',
	'ԛ': 'q', 'ѕ': 's', 'т': 't', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'ү': 'y', 'α': 'a', 'ε': 'e', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o',
	'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x', 'ı': 'i', 'ɡ': 'g', 'ɩ': 'i', 'ɑ': 'a', '’': '\'', '‘': '\'', '‐': '-', '‑': '-', '–': '-',
	'—': '-', '＿': '_',
}

// latinLookalike returns the Latin letter that r looks like, or r.
func latinLookalike(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r >= 0xff01 && r <= 0xff5e: // full width
		return r - 0xfee0
	case r >= 0x1d400 && r <= 0x1d6a3: // mathematical alphabets: alternating runs of capitals and small letters
		n := (r - 0x1d400) % 52
		return 'a' + n%26
	}
	if plain, known := lookalikes[r]; known {
		return plain
	}
	return r
}

// nameSkeleton returns the same text for names that look alike. Digits become the letters that they look like,
// and separators are dropped.
func nameSkeleton(name string) string {
	out := make([]rune, 0, len(name))
	for _, r := range normalizeText(name) {
		switch r {
		case '_', '-', '.', '/', ' ':
			continue
		case '0':
			r = 'o'
		case '1', 'i', '|':
			r = 'l'
		}
		out = append(out, r)
	}
	return string(out)
}

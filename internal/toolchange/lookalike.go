package toolchange

// lookalikes are letters of other scripts that look like Latin ones, in lower case: those of Cyrillic and Greek that are met in names
// made to be mistaken (Unicode Technical Standard 39, confusables).
var lookalikes = map[rune]rune{
	'а': 'a', 'в': 'b', 'с': 'c', 'ԁ': 'd', 'е': 'e', 'һ': 'h', 'і': 'i', 'ј': 'j', 'к': 'k', 'ӏ': 'l', 'м': 'm', 'о': 'o', 'р': 'p',
	'ԛ': 'q', 'ѕ': 's', 'т': 't', 'ԝ': 'w', 'х': 'x', 'у': 'y', 'ү': 'y', 'α': 'a', 'ε': 'e', 'ι': 'i', 'κ': 'k', 'ν': 'v', 'ο': 'o',
	'ρ': 'p', 'τ': 't', 'υ': 'u', 'χ': 'x', 'ı': 'i', 'ɡ': 'g', 'ɩ': 'i', 'ɑ': 'a', '’': '\'', '‘': '\'', '‐': '-', '‑': '-', '–': '-',
	'—': '-', '＿': '_',
}

// lookalike is the plain letter that a letter looks like, or the letter.
func lookalike(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r >= 0xff01 && r <= 0xff5e: // full width
		return r - 0xfee0
	case r >= 0x1d400 && r <= 0x1d6a3: // mathematical alphabets: runs of capitals and small letters
		n := (r - 0x1d400) % 52
		return 'a' + n%26
	}
	if plain, known := lookalikes[r]; known {
		return plain
	}
	return r
}

// skeleton is a name as it looks: the same for those that may be taken for each other. Digits stand for the letters that they look like,
// and what separates words does not count.
func skeleton(name string) string {
	out := make([]rune, 0, len(name))
	for _, r := range plain(name) {
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

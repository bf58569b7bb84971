package history

import "bytes"

// secretNames are names of members that hold secrets, in small letters and without what separates words. A name that ends with one
// counts, so that x_api_key and githubToken do, and maxTokens does not.
var secretNames = [][]byte{
	[]byte("password"), []byte("passwd"), []byte("passphrase"), []byte("pwd"), []byte("secret"), []byte("token"), []byte("apikey"),
	[]byte("accesskey"), []byte("secretkey"), []byte("privatekey"), []byte("signingkey"), []byte("encryptionkey"), []byte("authorization"),
	[]byte("credential"), []byte("credentials"), []byte("cookie"), []byte("sessionid"), []byte("connectionstring"), []byte("clientsecret"),
	[]byte("passwords"), []byte("secrets"), []byte("apikeys"), []byte("dbpass"), []byte("accesskeyid"),
}

// secretName tells whether a member's value is a secret by its name.
func secretName(name []byte) bool {
	if len(name) < 3 || len(name) > 64 {
		return false
	}
	var small [64]byte
	n := 0
	for _, c := range name {
		switch {
		case c == '_', c == '-', c == ' ', c == '.':
			continue
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		}
		small[n] = c
		n++
	}
	for _, s := range secretNames {
		if bytes.HasSuffix(small[:n], s) {
			return true
		}
	}
	return secretWord(name)
}

// secretWords are names that are secret as a word of their own alone: db_pass, userPass and X-Auth end with one, compass does not.
var secretWords = [][]byte{[]byte("pass"), []byte("auth"), []byte("otp"), []byte("jwt")}

// secretWord tells whether the last word of a name is one of those.
func secretWord(name []byte) bool {
	for _, word := range secretWords {
		at := len(name) - len(word)
		if at >= 0 && bytes.EqualFold(name[at:], word) && (at == 0 || wordBegins(name[at-1], name[at])) {
			return true
		}
	}
	return false
}

func wordBegins(before, first byte) bool {
	return kindOf(before) == 0 || kindOf(before) == '9' || kindOf(before) == 'a' && kindOf(first) == 'A'
}

// inProse tells whether a name is one that sentences have before a colon, too: "all tests pass: 12".
func inProse(name []byte) bool {
	return bytes.EqualFold(name, []byte("pass")) || bytes.EqualFold(name, []byte("auth"))
}

// secretFlag tells whether a text is a flag of a command line, such as --api-key, that a secret follows.
func secretFlag(text []byte) bool {
	return len(text) > 3 && text[0] == '-' && bytes.IndexByte(text, ' ') < 0 && secretName(text)
}

// isWord are the bytes that keys and tokens are made of.
var isWord = func() (table [256]bool) {
	for c := range table {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '_', c == '-', c == '+', c == '/', c == '=', c == '.', c == '~':
			table[c] = true
		}
	}
	return table
}()

// secretPrefixes begin keys that their makers mark as such.
var secretPrefixes = [][]byte{
	[]byte("sk-"), []byte("sk_"), []byte("rk_"), []byte("pk_live_"), []byte("ghp_"), []byte("gho_"), []byte("ghs_"), []byte("ghu_"), []byte("github_pat_"),
	[]byte("glpat-"), []byte("xoxb-"), []byte("xoxp-"), []byte("xapp-"), []byte("pb_"), []byte("AIza"), []byte("ya29."), []byte("npm_"), []byte("hf_"),
}

// looksRandom tells whether a word of minRandom bytes or more is a key and no word: a JWT, one with a known prefix, or a mix of kinds of characters. Ids in the form of a UUID are none, and neither are paths and host names, which are
// judged by their parts.
func looksRandom(word []byte) bool {
	if len(word) > maxRandom && !bytes.HasPrefix(word, []byte("eyJ")) {
		return false
	}
	if bytes.HasPrefix(word, []byte("eyJ")) && bytes.Count(word, []byte(".")) >= 2 {
		return true
	}
	for _, p := range secretPrefixes {
		if bytes.HasPrefix(word, p) {
			return true
		}
	}
	for part := range bytes.FieldsFuncSeq(word, func(c rune) bool { return c == '/' || c == '.' || c == '~' }) {
		if len(part) >= minRandom && !isUUID(part) && mixed(part) {
			return true
		}
	}
	return false
}

// mixed tells whether small letters, capitals and digits take turns as in a random string. A name of several words has few digits, if any.
func mixed(word []byte) bool {
	changes, digits, last := 0, 0, byte(0)
	for _, c := range word {
		kind := kindOf(c)
		if kind == '9' {
			digits++
		}
		if kind != 0 && kind != last {
			changes, last = changes+1, kind
		}
	}
	return digits >= 2 && changes > len(word)/4
}

func kindOf(c byte) byte {
	switch {
	case 'a' <= c && c <= 'z':
		return 'a'
	case 'A' <= c && c <= 'Z':
		return 'A'
	case '0' <= c && c <= '9':
		return '9'
	default: // "-" and "_" stand in names, too
		return 0
	}
}

func isUUID(s []byte) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}

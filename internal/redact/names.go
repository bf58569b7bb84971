package redact

import "bytes"

// secretNames are names of members with secrets, in lower case without separators. Suffixes count: x_api_key
// and githubToken match, maxTokens does not.
var secretNames = [][]byte{
	[]byte("password"), []byte("passwd"), []byte("passphrase"), []byte("pwd"), []byte("secret"), []byte("token"), []byte("apikey"),
	[]byte("accesskey"), []byte("secretkey"), []byte("privatekey"), []byte("signingkey"), []byte("encryptionkey"), []byte("authorization"),
	[]byte("credential"), []byte("credentials"), []byte("cookie"), []byte("sessionid"), []byte("connectionstring"), []byte("clientsecret"),
	[]byte("passwords"), []byte("secrets"), []byte("apikeys"), []byte("dbpass"), []byte("accesskeyid"),
}

// IsSecretName reports whether a field, header or variable of this name holds a secret.
func IsSecretName(name string) bool { return isSecretName([]byte(name)) }

// isSecretName reports whether a member of this name holds a secret.
func isSecretName(name []byte) bool {
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
	return isSecretWord(name)
}

// secretLastWords match only as a whole last word: db_pass, userPass and X-Auth match, compass does not.
var secretLastWords = [][]byte{[]byte("pass"), []byte("auth"), []byte("otp"), []byte("jwt")}

func isSecretWord(name []byte) bool {
	for _, word := range secretLastWords {
		at := len(name) - len(word)
		if at >= 0 && bytes.EqualFold(name[at:], word) && (at == 0 || startsWord(name[at-1], name[at])) {
			return true
		}
	}
	return false
}

func startsWord(before, first byte) bool {
	return charClass(before) == 0 || charClass(before) == '9' || charClass(before) == 'a' && charClass(first) == 'A'
}

// isProseWord reports whether a name also comes before a colon in prose: "all tests pass: 12".
func isProseWord(name []byte) bool {
	return bytes.EqualFold(name, []byte("pass")) || bytes.EqualFold(name, []byte("auth"))
}

// isSecretFlag reports whether a text is a command-line flag with a secret value, such as --api-key.
func isSecretFlag(text []byte) bool {
	return len(text) > 3 && text[0] == '-' && bytes.IndexByte(text, ' ') < 0 && isSecretName(text)
}

// isTokenByte marks the bytes of keys and tokens.
var isTokenByte = func() (table [256]bool) {
	for c := range table {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9',
			c == '_', c == '-', c == '+', c == '/', c == '=', c == '.', c == '~':
			table[c] = true
		}
	}
	return table
}()

// secretPrefixes are documented prefixes of keys.
var secretPrefixes = [][]byte{
	[]byte("sk-"), []byte("sk_"), []byte("rk_"), []byte("pk_live_"), []byte("ghp_"), []byte("gho_"), []byte("ghs_"), []byte("ghu_"), []byte("github_pat_"),
	[]byte("glpat-"), []byte("xoxb-"), []byte("xoxp-"), []byte("xapp-"), []byte("pb_"), []byte("AIza"), []byte("ya29."), []byte("npm_"), []byte("hf_"),
}

// looksRandom reports whether a word of at least minRandom bytes is a key: a JWT, a known prefix, or a random
// mix of characters. UUIDs are not. Paths and host names are judged by their parts.
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
		if len(part) >= minRandom && !isUUID(part) && isMixed(part) {
			return true
		}
	}
	return false
}

// isMixed reports whether lower case, upper case and digits alternate as in a random string. Names of several
// words have few digits.
func isMixed(word []byte) bool {
	changes, digits, last := 0, 0, byte(0)
	for _, c := range word {
		kind := charClass(c)
		if kind == '9' {
			digits++
		}
		if kind != 0 && kind != last {
			changes, last = changes+1, kind
		}
	}
	return digits >= 2 && changes > len(word)/4
}

func charClass(c byte) byte {
	switch {
	case 'a' <= c && c <= 'z':
		return 'a'
	case 'A' <= c && c <= 'Z':
		return 'A'
	case '0' <= c && c <= '9':
		return '9'
	default: // "-" and "_" are also in names
		return 0
	}
}

func isUUID(s []byte) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-'
}

// Package i18n translates the dashboard's texts into the reader's language.
//
//	T(ctx, "Add connector")                             a text
//	T(ctx, "Welcome to %s.", name)                      with an argument; %[2]s where a language changes the order
//	N(ctx, n, "%s tool", "%s tools")                    a count: its number is the first argument
//	Parts(ctx, "Export as |CSV| or |JSON|")             a sentence with links or code: one key, cut at its bars;
//	                                                    … is replaced by the page itself
//	TranslateKnown(ctx, run.ErrorMessage)                         an English text of another package, perhaps stored
//
// The English text is the key. Catalogs have the translations, one file per language, and catalogs/en.json
// lists all keys. Tests compare the catalogs with the code: go test ./internal/i18n finds missing and unused keys and
// different verbs; go test ./internal/i18n -update rewrites en.json.
//
// A key is a constant of the type [Key]: the tests find it anywhere, so a table may hold keys that are
// translated when shown. Sentences of other packages are found in their source by their form: a capital at the
// beginning, and a full stop at the end. Write them whole. fragments.go has the words that they insert into such
// sentences; values of tables named …Names and …Words are found without it.
//
// TranslateKnown recognizes a sentence by its fixed words. Quoted text, text of people and servers, and unknown sentences
// stay. respond.LocalizedFault translates a failure for a page. TestNoEnglishIsLeftOnAGermanPage (package admin) opens each page in
// German and reports English texts.
//
// A script uses words.say("Copied") or words.count(n, "%s tools"). The page delivers these texts in data-words;
// web/templates/script_words.go lists them, and a test compares the list with the scripts.
//
// The language is in the context ([With]); the default is English. A person's choice comes before
// Accept-Language ([Choose]). Logs and API responses are always in English.
package i18n

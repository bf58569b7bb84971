// Package words says the dashboard's texts in the language of whoever reads them.
//
//	T(ctx, "Add connector")                             a text
//	T(ctx, "Welcome to %s.", name)                      with something in it; %[2]s where a language turns the order around
//	N(ctx, n, "%s tool", "%s tools")                    a count: its number stands first, the rest of the arguments after it
//	Parts(ctx, "Export as |CSV| or |JSON")              a sentence that links or code interrupt: one key, cut at its bars;
//	                                                    … stands for what the page puts in by itself
//	Said(ctx, run.ErrorMessage)                         what another room has said in English, and perhaps stored
//
// The English text is the key. Its translations are in catalogs, one file a language, and catalogs/en.json is the list of all
// keys: strings are in one place. Tests hold the catalogs to the code: go test ./internal/words says what is missing, what
// nobody uses and which verbs differ; go test ./internal/words -update writes en.json anew.
//
// A key is a constant of the type [Key]: the tests find it wherever it stands, so that a table of names may hold keys which
// are translated where they are shown. What other rooms say is found in their source by its form: a text that begins with a
// capital and ends with a full stop. Words that they put into such sentences are in fragments.go.
//
// The language is in the context ([With]); without one it is English. What a person chose comes before what the browser asks
// for ([Choose]). Logs and the API's answers are in English whoever asks.
package words

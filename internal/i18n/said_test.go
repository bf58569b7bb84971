package i18n_test

import (
	"fmt"
	"strings"
	"testing"

	"patchbay/internal/i18n"
)

func TestWhatARoomSaysIsKnownAgain(t *testing.T) {
	t.Parallel()
	german := i18n.With(t.Context(), i18n.German)
	for said, want := range map[string]string{
		"Something went wrong on our side.":                                                                                               "Bei uns ist etwas schiefgegangen.",
		`The connector "Linear" is disabled. Enable it to sync.`:                                                                          `Der Connector "Linear" ist deaktiviert. Aktivieren Sie ihn zum Synchronisieren.`,
		`"A \"B\" C" didn't respond within 30 seconds, so Patchbay cancelled the call. The tool may have run.`:                            `"A \"B\" C" hat nicht innerhalb von 30 Sekunden geantwortet, daher hat Patchbay den Aufruf abgebrochen. Das Tool wurde möglicherweise ausgeführt.`,
		"The server's response isn't MCP. Check that the URL is its MCP endpoint.":                                                        "Die Antwort des Servers ist kein MCP. Prüfen Sie, ob die URL sein MCP-Endpunkt ist.",
		"The server answered with HTML. Check that the URL is its MCP endpoint.":                                                          "Der Server hat mit HTML geantwortet. Prüfen Sie, ob die URL sein MCP-Endpunkt ist.",
		`Reconnect the account for "Linear": the authorization server ended access.`:                                                      `Verbinden Sie das Konto für "Linear" neu: Der Autorisierungsserver hat den Zugriff beendet.`,
		"No sync has succeeded since 2 Jan 2006 at 15:04 UTC. The server can't be reached. Check the URL and that the server is running.": "Kein erfolgreicher Sync seit 2 Jan 2006 at 15:04 UTC. Der Server ist nicht erreichbar. Prüfen Sie die URL und ob der Server läuft.",
		"No such agent or connector.":                                                                                                     "Nicht gefunden: Agent oder Connector.",
		"Support asks to call send_mail":                                                                                                  "Support möchte send_mail aufrufen",
		"Account disconnected, because the URL moved to another origin. Connect the account.":                                             "Konto getrennt, weil die URL zu einem anderen Ursprung gewechselt hat. Das Konto verbinden.",
		"Nobody knows this sentence. Try again in a moment.":                                                                              "Nobody knows this sentence. Gleich noch einmal versuchen.",
		"The server did what no sentence of ours tells.":                                                                                  "The server did what no sentence of ours tells.",
		"":                    "",
		"no sentence at all":  "no sentence at all",
		"Agent":               "Agent",
		"A. B? C! … d. Ü 1.":  "A. B? C! … d. Ü 1.",
		"\xff\xfe. \xff. %s.": "\xff\xfe. \xff. %s.",
	} {
		if have := i18n.TranslateKnown(german, said); have != want {
			t.Errorf("%q\n is %q,\nnot %q", said, have, want)
		}
		if have := i18n.TranslateKnown(t.Context(), said); have != said {
			t.Errorf("in English %q is %q", said, have)
		}
	}
}

// TestSaid_KnowsEverySentence fills each sentence with arguments, as the packages do.
func TestSaid_KnowsEverySentence(t *testing.T) {
	t.Parallel()
	german := i18n.With(t.Context(), i18n.German)
	texts := catalog(t, "de")
	for key := range collectSentences(t, nil) {
		translated, ok := texts[key].(string)
		if !ok {
			continue // a count, or missing: other tests report it
		}
		if have, want := i18n.TranslateKnown(german, filled(key)), filled(translated); have != want {
			t.Errorf("%q\n is %q,\nnot %q", filled(key), have, want)
		}
	}
}

// filled is a format with the same argument for each verb of a kind.
func filled(format string) string {
	return formatVerb.ReplaceAllStringFunc(format, func(v string) string {
		switch v[len(v)-1] {
		case 'q':
			return `"It is. A \"name\"."`
		case 'd', 'f', 'g':
			return "7"
		case '%':
			return "%"
		default:
			return "x-7"
		}
	})
}

// FuzzSaid checks that the translation of any text has a bounded length.
func FuzzSaid(f *testing.F) {
	f.Add("No such agent. Try again in a moment.")
	f.Add(`The connector "x" has no client secret. Set it on its Credentials page.`)
	german := i18n.With(f.Context(), i18n.German)
	f.Fuzz(func(t *testing.T, text string) {
		if said := i18n.TranslateKnown(german, text); len(said) > 4*len(text)+1000 {
			t.Errorf("%q becomes %q", text, said)
		}
	})
}

func TestALongTextOfSentencesIsLookedThroughSoon(t *testing.T) {
	t.Parallel()
	german := i18n.With(t.Context(), i18n.German)
	text := strings.Repeat("It is. ", 290)
	if have := i18n.TranslateKnown(german, text); have != text {
		t.Errorf("%q", have)
	}
}

var benchSink string

// BenchmarkTexts measures the cost of one text on a page.
func BenchmarkTexts(b *testing.B) {
	const failure = `"Linear" didn't respond within 30 seconds, so Patchbay cancelled the call. The tool may have run.`
	for _, l := range i18n.Languages {
		ctx := i18n.With(b.Context(), l)
		for name, say := range map[string]func() string{
			"text":    func() string { return i18n.T(ctx, "Add connector") },
			"format":  func() string { return i18n.T(ctx, "Welcome to %s.", "Acme") },
			"count":   func() string { return i18n.N(ctx, 1204, "%s tool", "%s tools") },
			"failure": func() string { return i18n.TranslateKnown(ctx, failure) },
			"unknown": func() string { return i18n.TranslateKnown(ctx, "Linear has a sentence of its own.") },
		} {
			b.Run(fmt.Sprintf("%s/%s", name, l.Code), func(b *testing.B) {
				for b.Loop() {
					benchSink = say()
				}
			})
		}
	}
}

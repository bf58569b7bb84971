// Package templates is what a person sees: one component per page, each with one props struct.
//
//	Frame         what all pages share: who is here, where, and what they may do
//	Form          what was typed and what is wrong with it, by field name
//	When, State   a time and a condition, in words that are ready to show
//	*Page         the props of one page; the component has the same name without "Page" ("ConnectorsPage" → "Connectors")
//	ConnectorRow  pieces that also travel alone, to refresh a part of a page that stands already
//
// The templates decide nothing: they know no clock, no rule and no store. Whoever builds the props has chosen every
// word that depends on data, has formatted every number and has made every address. What a template knows by itself
// is its own headings, labels and help texts.
//
// Pages work without script, as links and forms. The hx-* attributes let htmx replace a part of a page in place; a
// handler needs to know of it only for the test panel and the event stream (see [TestPanel] and [ConnectorChanged]).
package templates

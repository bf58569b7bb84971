// Package templates renders the dashboard's HTML: one component per page, each with one props struct.
//
//	Frame         what all pages share: the person, the navigation, and the permissions
//	Form          values and errors by field name
//	When, State   a time and a condition, as text that is ready to show
//	*Page         the props of one page; the component has the same name without "Page" ("ConnectorsPage" → "Connectors")
//	ConnectorRow  fragments that also travel alone, to update a part of an open page
//
// Templates decide nothing: they know no clock, no rule and no store. The view builder chooses every word that
// depends on data, formats every number and builds every address. A template has its own headings, labels and
// help texts only.
//
// Pages work without script, as links and forms. The hx-* attributes let htmx replace a part of a page in
// place. A handler knows about it for the test panel and the event stream only (see [TestPanel] and
// [ConnectorChanged]).
package templates

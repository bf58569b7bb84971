// Package web is the look of the dashboard: the static files, embedded, and their addresses.
//
//	templates/       the pages (package templates)
//	static/css/      our stylesheet in four layers: tokens, base, layout, components
//	static/js/       theme.js (before the first paint) and app.js (what sharpens pages that work without it)
//	static/vendor/   Basecoat, Geist, Lucide's icons, htmx, with their licences; vendor.sh refreshes them
//
// A file is asked for by its name ([Asset]) and served under an address that holds the hash of its content ([Static]),
// so that browsers keep it for good and a new release is never shown with old styles.
package web

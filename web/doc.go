// Package web embeds the dashboard's static files and serves them under hashed addresses.
//
//	templates/       the pages (package templates)
//	static/css/      the stylesheet in four layers: tokens, base, layout, components
//	static/js/       theme.js (before the first paint) and app.js (improves pages that work without it)
//	static/vendor/   Basecoat, Geist, Lucide's icons, htmx, with their licences; vendor.sh updates them
//
// A file is named by [Asset] and served by [Static] at an address with the hash of its content, so that
// browsers cache it forever and a new release never uses old styles.
package web

package main

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// webBrowser keeps cookies and follows redirects.
type webBrowser struct{ client *http.Client }

func newBrowser() (webBrowser, error) {
	jar, err := cookiejar.New(nil)
	return webBrowser{&http.Client{Jar: jar, Transport: &http.Transport{}}}, err
}

// webPage is the page after all redirects.
type webPage struct {
	url    *url.URL
	status int
	form   *webForm // the first POST form; nil: none
	text   string
}

// webForm is a form with its input values.
type webForm struct {
	action *url.URL
	fields url.Values
}

// openPage gets a page.
func (b webBrowser) openPage(ctx context.Context, address string) (webPage, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return webPage{}, err
	}
	return b.doRequest(req)
}

// submitForm posts the page's form.
func (b webBrowser) submitForm(ctx context.Context, on webPage) (webPage, error) {
	body := strings.NewReader(on.form.fields.Encode())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, on.form.action.String(), body)
	if err != nil {
		return webPage{}, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Origin", on.url.Scheme+"://"+on.url.Host)
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.doRequest(req)
}

func (b webBrowser) doRequest(req *http.Request) (webPage, error) {
	req.Header.Set("Accept", "text/html,*/*;q=0.8")
	res, err := b.client.Do(req)
	if err != nil {
		return webPage{}, err
	}
	defer res.Body.Close()
	if next, ok := strings.CutPrefix(res.Header.Get("Refresh"), "0; url="); ok {
		return b.openPage(req.Context(), next)
	}
	document, err := html.Parse(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return webPage{}, err
	}
	at := webPage{url: res.Request.URL, status: res.StatusCode}
	at.readDocument(document)
	at.text = strings.Join(strings.Fields(at.text), " ")
	return at, nil
}

// readDocument reads the first POST form and the text of the main element.
func (p *webPage) readDocument(document *html.Node) {
	for n := range document.Descendants() {
		switch {
		case n.Type == html.ElementNode && n.Data == "form" && p.form == nil && strings.EqualFold(attribute(n, "method"), "post"):
			p.form = p.readForm(n)
		case n.Type == html.TextNode && isWithin(n, "main"):
			p.text += " " + n.Data
		}
	}
}

func (p *webPage) readForm(n *html.Node) *webForm {
	f := &webForm{action: p.url, fields: url.Values{}}
	if action, err := p.url.Parse(attribute(n, "action")); err == nil {
		f.action = action
	}
	for field := range n.Descendants() {
		if field.Type == html.ElementNode && field.Data == "input" && attribute(field, "name") != "" {
			f.fields.Add(attribute(field, "name"), attribute(field, "value"))
		}
	}
	return f
}

func isWithin(n *html.Node, element string) bool {
	for above := range n.Ancestors() {
		if above.Type == html.ElementNode && above.Data == element {
			return true
		}
	}
	return false
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

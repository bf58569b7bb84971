package safehttp

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"patchbay/internal/fault"
	"patchbay/internal/safe"
	"patchbay/internal/secret"
)

// Proxy is the operator's egress proxy. All outbound connections but those to loopback use CONNECT (RFC 9110
// section 9.3.6), plain HTTP, too.
type Proxy struct {
	scheme, host, port string
	authorization      string // "Basic …"; empty: no credentials
}

// ParseProxy parses the address of a proxy, as http://user:password@proxy.example.com:3128. Empty text returns
// nil. The error is a *fault.Error that quotes nothing, because the text may contain a password.
func ParseProxy(text secret.Text) (*Proxy, error) {
	if text.Empty() {
		return nil, nil
	}
	u, err := url.Parse(text.Reveal())
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || strings.Trim(u.Path, "/") != "" ||
		u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, fault.Errorf(fault.Invalid, "must be an HTTP proxy URL, such as http://proxy.example.com:3128 or https://user:password@proxy.example.com:3128.")
	}
	port, ok := parsePort(u)
	host := u.Hostname()
	if _, literal := parsePrefix(host); !ok || !literal && hostDefect(host) != "" {
		return nil, fault.Errorf(fault.Invalid, "must have a host and port, such as http://proxy.example.com:3128.")
	}
	p := &Proxy{scheme: u.Scheme, host: host, port: fmt.Sprint(port)}
	if u.User != nil {
		password, _ := u.User.Password()
		p.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password))
	}
	return p, nil
}

// String is the proxy's address without credentials.
func (p *Proxy) String() string { return p.scheme + "://" + p.hostPort() }

// Format writes String for every verb.
func (p *Proxy) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, p.String()) }

func (p *Proxy) hostPort() string { return net.JoinHostPort(p.host, p.port) }

// Try connects to a host that cannot exist. It returns nil if the proxy responds and accepts the credentials.
func (p *Proxy) Try(ctx context.Context) error {
	c, err := p.connectTo(ctx, nil, nonexistentHost)
	if err == nil {
		return c.Close()
	}
	if failed, ok := errors.AsType[*ProxyError](err); ok && failed.Status != 0 && failed.Status != http.StatusProxyAuthRequired {
		return nil
	}
	return err
}

// nonexistentHost cannot exist (RFC 6761 section 6.4).
const nonexistentHost = "patchbay.invalid:443"

// connectTo connects to target through the proxy. The error is a *ProxyError, or that of ctx.
func (p *Proxy) connectTo(ctx context.Context, roots *x509.CertPool, target string) (net.Conn, error) {
	dialCtx, cancel := context.WithTimeout(ctx, connectTimeoutFrom(ctx))
	defer cancel()
	c, err := p.openTunnel(dialCtx, roots, target)
	if err != nil && ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return c, err
}

func (p *Proxy) openTunnel(ctx context.Context, roots *x509.CertPool, target string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", p.hostPort())
	if err != nil {
		return nil, newUnreachableError(err)
	}
	if p.scheme == "https" {
		tlsConn := tls.Client(c, &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots, ServerName: p.host})
		if err := tlsConn.HandshakeContext(ctx); err != nil {
			_ = c.Close()
			return nil, &ProxyError{Why: "TLS to the egress proxy failed. Ask the operator to check its certificate.", Err: err}
		}
		c = tlsConn
	}
	stop := context.AfterFunc(ctx, safe.Func(safe.Timer, func() { _ = c.SetDeadline(time.Unix(1, 0)) }))
	err = p.sendConnect(c, target)
	if !stop() && err == nil {
		err = newUnreachableError(context.Cause(ctx))
	}
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// sendConnect sends CONNECT for target and reads the response. It fails if data follows the response, because
// that would not be the target's.
func (p *Proxy) sendConnect(c net.Conn, target string) error {
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{}}
	if p.authorization != "" {
		request.Header.Set("Proxy-Authorization", p.authorization)
	}
	if err := request.Write(c); err != nil {
		return newUnreachableError(err)
	}
	in := bufio.NewReader(io.LimitReader(c, maxHeaderBytes))
	resp, err := http.ReadResponse(in, request)
	if err != nil {
		if failed, ok := errors.AsType[*net.OpError](err); ok {
			return newUnreachableError(failed)
		}
		return &ProxyError{Why: "The egress proxy doesn't respond like a proxy. Ask the operator to check PATCHBAY_EGRESS_PROXY."}
	}
	_ = resp.Body.Close()
	switch {
	case resp.StatusCode/100 != 2:
		host, _, _ := net.SplitHostPort(target)
		return &ProxyError{Status: resp.StatusCode, Why: proxySentence(resp.StatusCode, host)}
	case in.Buffered() > 0:
		return &ProxyError{Why: "The egress proxy sent data before the server's response. Ask the operator to check it."}
	}
	return nil
}

package link

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"golang.org/x/text/unicode/norm"

	"github.com/waymarkhq/waymark/internal/domain"
	"github.com/waymarkhq/waymark/internal/fault"
	"github.com/waymarkhq/waymark/internal/store"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// Links may lead to links, but never in a circle: visitors would go round, and
// each round would be a click. Every destination of a link counts, whatever its
// conditions: a rule, an expiredUrl and an archived link can come into force
// without a further check. A circle needs a new destination or a new address,
// so it is looked for where these are written, and only through the link written.

const (
	// maxHops is how many other links a destination may lead through; browsers
	// give up after some twenty redirects.
	maxHops = 10
	// maxLooked bounds the addresses that are looked at for one request, and
	// lookedAtOnce those of one statement.
	maxLooked    = 200
	lookedAtOnce = 50
	// maxFurther bounds the addresses, of this installation or not, that links
	// looked at in one step may lead to.
	maxFurther = 1000
)

// destination is an address to which a link leads, and the member of the request
// that it stands in.
type destination struct{ path, url string }

// destinations returns the destinations of a link besides its rules, in a fixed
// order; url is "" where there is none.
func (l *Link) destinations() []destination {
	all := []destination{{path: "/desktopUrl"}, {path: "/playStoreUrl"}, {path: "/appStoreUrl"},
		{path: "/lifecycle/expiredUrl"}}
	for i, value := range []*string{l.DesktopURL, l.PlayStoreURL, l.AppStoreURL, l.Lifecycle.ExpiredURL} {
		if value != nil {
			all[i].url = *value
		}
	}
	return all
}

// destinationsOf returns the destinations of rules.
func destinationsOf(rules []Rule) (all []destination) {
	for i, r := range rules {
		all = append(all, destination{fmt.Sprintf("/rules/%d/destinationUrl", i), r.DestinationURL})
	}
	return all
}

// changedDestinations returns the destinations that a link did not have before.
func changedDestinations(before, after *Link) []destination {
	old := before.destinations()
	return slices.DeleteFunc(after.destinations(), func(d destination) bool { return slices.Contains(old, d) })
}

// checkLoops collects the destinations that lead back to the link at own.
func (s *Service) checkLoops(ctx context.Context, q store.Q, p *fault.Problems, own identity,
	destinations []destination) error {
	w := walk{s: s, q: q, own: own, ours: map[string]bool{}, next: map[identity][]identity{}}
	var starts []identity
	for _, d := range destinations {
		if at, ok := s.linkAddress(d.url); ok {
			starts = append(starts, at)
		}
	}
	if err := w.explore(ctx, starts); err != nil {
		return err
	}
	for _, d := range destinations {
		at, ok := s.linkAddress(d.url)
		if !ok {
			continue
		}
		switch loops, unknown := w.leads(at, map[identity]bool{}); {
		case at == own:
			p.Add(d.path, fault.ReasonRedirectLoop, "the destination is the link's own address; choose another one")
		case loops:
			p.Add(d.path, fault.ReasonRedirectLoop, "the destination is a link that leads back to this one; choose "+
				"another destination")
		case unknown:
			p.Add(d.path, fault.ReasonRedirectLoop, "the destination leads through more than %d other links, or "+
				"branches to more than %d; use the final destination instead", maxHops, maxLooked)
		}
	}
	return nil
}

// linkAddress returns the address of the link that a destination leads to if
// that link exists, as browsers and the redirector read it.
func (s *Service) linkAddress(destination string) (id identity, ok bool) {
	u, err := url.Parse(destination)
	if err != nil {
		return id, false
	}
	if id.hostname, ok = weburl.Hostname(u.Hostname()); !ok {
		return id, false
	}
	if port, err := strconv.ParseUint(u.Port(), 10, 16); u.Port() != "" &&
		(err != nil || port != 443 && ":"+strconv.FormatUint(port, 10) != s.addresses.Port) {
		return id, false
	}
	var segments []string
	// Take the path as it was written: decoded, %2F could not be told from a
	// slash.
	parts := strings.Split(strings.TrimPrefix(cmp.Or(u.RawPath, u.EscapedPath()), "/"), "/")
	for i, part := range parts {
		segment, err := url.PathUnescape(part)
		if err != nil || strings.Contains(segment, "/") {
			segment = part // it keeps its escapes, and is no link's
		}
		if segment == ".." {
			segments = segments[:max(0, len(segments)-1)]
		}
		switch {
		case segment != "." && segment != "..":
			segments = append(segments, norm.NFC.String(segment))
		case i == len(parts)-1:
			segments = append(segments, "")
		}
	}
	if slices.Contains(segments, "") {
		return id, false
	}
	last := len(segments) - 1
	id.prefix, id.slug = strings.Join(segments[:last], "/"), segments[last]
	return id, true
}

// walk is a search through the links that destinations lead to.
type walk struct {
	s   *Service
	q   store.Q
	own identity
	// ours says of each hostname whether it belongs to the installation.
	ours map[string]bool
	// next is where the links that were looked at lead; an address without a
	// link leads nowhere.
	next map[identity][]identity
}

// explore looks at addresses, at those that they lead to, and so on, within the
// bounds.
func (w *walk) explore(ctx context.Context, at []identity) error {
	for hops := 0; ; hops++ {
		var err error
		if at, err = w.worthALook(ctx, at); err != nil || len(at) == 0 || hops == maxHops ||
			len(w.next)+len(at) > maxLooked {
			return err
		}
		further := map[identity]bool{}
		for some := range slices.Chunk(at, lookedAtOnce) {
			if err := w.look(ctx, some); err != nil {
				return err
			}
			for _, a := range some {
				for _, b := range w.next[a] {
					further[b] = true
				}
			}
			if len(further) > maxFurther {
				return nil
			}
		}
		at = slices.Collect(maps.Keys(further))
	}
}

// worthALook returns the addresses on hostnames of the installation that were
// not looked at yet.
func (w *walk) worthALook(ctx context.Context, at []identity) ([]identity, error) {
	var hosts []any
	for _, a := range at {
		if _, known := w.ours[a.hostname]; !known {
			w.ours[a.hostname] = false
			hosts = append(hosts, a.hostname)
		}
	}
	for some := range slices.Chunk(hosts, lookedAtOnce) {
		ours, err := domain.Held(ctx, w.q, some...)
		if err != nil {
			return nil, err
		}
		for _, host := range ours {
			w.ours[host] = true
		}
	}
	var worth []identity
	for _, a := range at {
		if _, looked := w.next[a]; !looked && a != w.own && w.ours[a.hostname] && !slices.Contains(worth, a) {
			worth = append(worth, a)
		}
	}
	return worth, nil
}

// look reads where the links at addresses lead.
func (w *walk) look(ctx context.Context, at []identity) error {
	var args []any
	for _, a := range at {
		w.next[a] = nil
		args = append(args, a.hostname, a.prefix, a.slug)
	}
	_, err := store.All(ctx, w.q, func(r store.Row) (found identity, err error) {
		var l Link
		var text string
		if err := r.Scan(&found.hostname, &found.prefix, &found.slug, &l.DesktopURL, &l.PlayStoreURL, &l.AppStoreURL,
			&l.Lifecycle.ExpiredURL, &text); err != nil {
			return found, err
		}
		var rules []Rule
		if err := json.Unmarshal([]byte(text), &rules); err != nil {
			return found, err
		}
		for _, d := range append(l.destinations(), destinationsOf(rules)...) {
			if a, ok := w.s.linkAddress(d.url); ok {
				w.next[found] = append(w.next[found], a)
			}
		}
		return found, nil
	}, `SELECT hostname, prefix, slug, desktop_url, play_store_url, app_store_url, expired_url, routing_rules FROM link
		WHERE (hostname, prefix, slug) IN (VALUES `+strings.Repeat("(?, ?, ?), ", len(at)-1)+"(?, ?, ?))", args...)
	return err
}

// leads reports whether an address leads back to the start of the walk, and
// whether it leads to an address that was not looked at.
func (w *walk) leads(from identity, seen map[identity]bool) (loops, unknown bool) {
	next, looked := w.next[from]
	ours, asked := w.ours[from.hostname]
	switch {
	case from == w.own:
		return true, false
	case seen[from] || asked && !ours:
		return false, false
	case !looked:
		return false, true
	}
	seen[from] = true
	for _, a := range next {
		l, u := w.leads(a, seen)
		loops, unknown = loops || l, unknown || u
	}
	return loops, unknown
}

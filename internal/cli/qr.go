package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/waymarkhq/waymark/client"
)

type qrCommand struct {
	Link string `arg:"" help:"Address or id of the link."`
	ofApp
	Format string `enum:"png,svg" default:"png" help:"png or svg; default: ${default}." placeholder:"FORMAT"`
	Size   int    `help:"Width and height in pixels; default: 512." placeholder:"PIXELS"`
	Out    string `help:"File to write, - for the standard output; default: the last part of the address, in this folder." placeholder:"FILE"`
}

func (q *qrCommand) Run(ctx context.Context) error {
	c, p, err := q.target.open()
	if err != nil {
		return err
	}
	id, err := findLink(ctx, c, q.App, p, q.Link)
	if err != nil {
		return err
	}
	query := url.Values{"format": {q.Format}}
	if q.Size != 0 {
		query.Set("size", fmt.Sprint(q.Size))
	}
	a, err := c.Do(ctx, client.Request{Method: http.MethodGet, Path: client.Path("/links/{linkId}/qr", id), Query: query})
	if err != nil {
		return err
	}
	if q.Out == "-" {
		if q.Format == "png" && term.IsTerminal(int(os.Stdout.Fd())) {
			return usage("a picture cannot be shown here: give --out FILE")
		}
		_, err := stdout.Write(a.Body)
		return err
	}
	if q.Out == "" {
		var l link
		if err := c.Get(ctx, client.Path("/links/{linkId}", id), nil, &l); err != nil {
			return err
		}
		q.Out = strings.ReplaceAll(l.Slug, "/", "-") + "." + q.Format
	}
	if err := os.WriteFile(q.Out, a.Body, 0o666); err != nil {
		return err
	}
	fmt.Fprintln(stdout, q.Out)
	return nil
}

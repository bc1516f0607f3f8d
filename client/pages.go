package client

import (
	"context"
	"iter"
	"net/url"
)

// Pages reads a list page by page, from its first page or from the cursor of the request. It
// ends with the last page or the first error.
func (c *Client) Pages(ctx context.Context, r Request) iter.Seq2[*Answer, error] {
	return func(yield func(*Answer, error) bool) {
		query := url.Values{}
		for name, values := range r.Query {
			query[name] = values
		}
		for r.Query = query; ; {
			a, err := c.Do(ctx, r)
			if err != nil {
				yield(nil, err)
				return
			}
			e, err := a.Envelope()
			if !yield(a, err) || err != nil || e.Pagination == nil || !e.Pagination.HasMore {
				return
			}
			query.Set("cursor", e.Pagination.NextCursor)
		}
	}
}

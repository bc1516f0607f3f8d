package route_test

import (
	"fmt"
	"time"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/route"
)

// Decide says what a visitor of a link gets. It needs nothing but its arguments.
func ExampleDecide() {
	now := clock.At(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
	end := now.Add(time.Hour)
	host := &route.Host{AppID: "app"}
	link := &route.Link{
		AppID: "app", Slug: "sale", DesktopURL: "https://example.com/sale",
		PlayStoreURL: "https://play.google.com/store/apps/details?id=com.example", ExpiresAt: &end,
		Rules: []route.Rule{{ID: "swiss", Country: "CH", URL: "https://example.ch/sale"}},
	}
	for _, visit := range []route.Visit{
		{Platform: route.Desktop}, {Platform: route.Android}, {Platform: route.Android, Country: "CH"},
	} {
		d := route.Decide(link, host, visit, now)
		fmt.Println(d.Status, d.Destination, d.Location)
	}
	fmt.Println(route.Decide(link, host, route.Visit{Platform: route.Desktop}, end).Status)
	// Output:
	// 302 web https://example.com/sale
	// 302 store https://play.google.com/store/apps/details?id=com.example
	// 302 web https://example.ch/sale
	// 410
}

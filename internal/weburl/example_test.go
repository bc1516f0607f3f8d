package weburl_test

import (
	"fmt"

	"github.com/waymarkhq/waymark/internal/weburl"
)

func ExampleCheckHTTPS() {
	for _, url := range []string{"https://example.com/page", "http://example.com", "https://me:secret@example.com"} {
		fmt.Println(weburl.CheckHTTPS("/desktopUrl", &url))
	}
	// Output:
	// <nil>
	// validation_failed: /desktopUrl: the URL must start with https://.
	// validation_failed: /desktopUrl: the URL must not contain a user or password.
}

func ExampleHostname() {
	fmt.Println(weburl.Hostname("Bücher.Example."))
	fmt.Println(weburl.Hostname("127.0.0.1"))
	// Output:
	// xn--bcher-kva.example true
	//  false
}

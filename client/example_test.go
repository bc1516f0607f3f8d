package client_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/waymarkhq/waymark/client"
)

func ExampleReceiver_Verify() {
	receiver := &client.Receiver{Secrets: []string{secret}}
	handler := func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 64<<10))
		if err != nil {
			return
		}
		event, err := receiver.Verify(body, r.Header)
		if err != nil {
			http.Error(w, err.Error(), http.StatusForbidden)
			return
		}
		fmt.Println(event.Type, event.Resource.ID)
		w.WriteHeader(http.StatusNoContent)
	}

	// Waymark sends it.
	now := time.Now()
	request := httptest.NewRequest("POST", "/waymark", strings.NewReader(body))
	request.Header.Set("Service-Signature", fmt.Sprintf("t=%d,%s", now.Unix(), sum(secret, body, now)))
	w := httptest.NewRecorder()
	handler(w, request)
	fmt.Println(w.Code)
	// Output:
	// link.updated go.example.com:0198
	// 204
}

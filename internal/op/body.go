package op

import (
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/waymarkhq/waymark/internal/fault"
)

// MaxBody is the largest JSON body in bytes, also when chunked.
const MaxBody = 32 << 10

var errEmptyBody = fault.New(fault.InvalidRequest, "The body is empty: send a JSON object.")

// readBody returns the bytes of the JSON body, of at most MaxBody bytes, of a request that
// is answered to w.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	tooLarge := fault.New(fault.PayloadTooLarge, "The body exceeds %d bytes.", MaxBody)
	if r.ContentLength > MaxBody {
		return nil, tooLarge
	}
	if err := refuseEncoded(r); err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(newPaced(w, r), MaxBody+1))
	if err != nil {
		return nil, incomplete(err)
	}
	if len(body) > MaxBody {
		return nil, tooLarge
	}
	return body, nil
}

// requireJSON refuses a body that is not declared as JSON in UTF-8.
func requireJSON(r *http.Request) error {
	kind, parameters, err := mediaType(r)
	if err != nil {
		return err
	}
	if kind != "application/json" {
		return fault.New(fault.UnsupportedMediaType, "The body must be sent with Content-Type: application/json.")
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return fault.New(fault.UnsupportedMediaType, "The body must be encoded as UTF-8.")
	}
	return nil
}

// mediaType returns the declared type of a body, "" when it is none.
func mediaType(r *http.Request) (kind string, parameters map[string]string, err error) {
	declared, _, err := header(r, "Content-Type")
	if err != nil {
		return "", nil, err
	}
	if kind, parameters, err = mime.ParseMediaType(declared); err != nil {
		return "", nil, nil
	}
	return kind, parameters, nil
}

// refuseEncoded refuses a body that would have to be unpacked first.
func refuseEncoded(r *http.Request) error {
	encoding, _, err := header(r, "Content-Encoding")
	if err != nil {
		return err
	}
	if encoding != "" && !strings.EqualFold(encoding, "identity") {
		return fault.New(fault.UnsupportedMediaType, "Content-Encoding %q is not supported; send the body as it is.",
			encoding)
	}
	return nil
}

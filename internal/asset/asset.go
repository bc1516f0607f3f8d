package asset

import (
	"net/url"
	"strings"

	"github.com/waymarkhq/waymark/internal/clock"
	"github.com/waymarkhq/waymark/internal/cursor"
	"github.com/waymarkhq/waymark/internal/op"
	"github.com/waymarkhq/waymark/internal/weburl"
)

// The states of an asset. Storing is for this package alone.
const (
	storing  = "storing"
	active   = "active"
	deleting = "deleting"
)

// Asset is an uploaded image.
type Asset struct {
	ID          string        `json:"id" format:"uuid"`
	AppID       string        `json:"appId"`
	URL         string        `json:"url" format:"uri" doc:"Public: whoever knows it can read the image."`
	ContentType string        `json:"contentType" enum:"image/png,image/jpeg"`
	ByteSize    int64         `json:"byteSize"`
	SHA256      string        `json:"sha256" pattern:"^[0-9a-f]{64}$" maxLength:"64" example:"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"`
	Width       int64         `json:"width"`
	Height      int64         `json:"height"`
	State       string        `json:"state" enum:"active,deleting" doc:"Not part of the revision."`
	Revision    string        `json:"revision" format:"uuid"`
	CreatedAt   clock.Instant `json:"createdAt" format:"date-time"`
	UpdatedAt   clock.Instant `json:"updatedAt" format:"date-time"`

	// object names the bytes in the asset store.
	object string
}

// Position implements op.Positioned.
func (a Asset) Position() cursor.Position { return cursor.Position{At: a.CreatedAt, ID: a.ID} }

func (a Asset) ref() op.Ref {
	return op.Ref{Type: "asset", ID: a.ID, AppID: a.AppID, Revision: a.Revision}
}

// Addresses makes and reads the public addresses of images.
type Addresses struct {
	// Scheme is https, or http in development; Port is ":8081" there.
	Scheme, Port string
	// Host is the hostname that serves images; "" when none does, and then
	// nothing can be uploaded.
	Host string
}

// URL returns the public address of an object.
func (a Addresses) URL(object string) string {
	return a.Scheme + "://" + a.Host + a.Port + "/" + object
}

// Object returns the object that an address names; ours tells that the address
// is on the hostname of images, where only the very address of an object names
// one.
func (a Addresses) Object(address string) (object string, ours bool) {
	u, err := url.Parse(address)
	if err != nil || a.Host == "" {
		return "", false
	}
	if host, _ := weburl.Hostname(strings.TrimSuffix(u.Hostname(), ".")); host != a.Host {
		return "", false
	}
	if object = strings.TrimPrefix(u.Path, "/"); address != a.URL(object) {
		object = ""
	}
	return object, true
}

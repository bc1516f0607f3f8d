package domain

import (
	"strings"

	"github.com/go-json-experiment/json"
)

// maxAppleFile is how many bytes of apple-app-site-association iOS reads.
const maxAppleFile = 128 << 10

// notOurs are the paths of every hostname that are no links: no app opens them.
var notOurs = []string{"NOT /_service/*", "NOT /.well-known/*"}

// appleFile is apple-app-site-association: appIDs and components are for iOS 13 and
// later, which does not read the rest; apps, appID and paths are for iOS 12 and
// earlier.
type appleFile struct {
	AppLinks struct {
		Apps    []string      `json:"apps"`
		Details []appleDetail `json:"details"`
	} `json:"applinks"`
}

type appleDetail struct {
	AppIDs     []string         `json:"appIDs"`
	Components []appleComponent `json:"components"`
	AppID      string           `json:"appID"`
	Paths      []string         `json:"paths"`
}

type appleComponent struct {
	Path    string `json:"/"`
	Exclude bool   `json:"exclude,omitzero"`
}

// file returns the apple-app-site-association file.
func (c *IOSConfig) file() string {
	var file appleFile
	file.AppLinks.Apps = []string{}
	paths := append(notOurs[:len(notOurs):len(notOurs)], c.Paths...)
	var components []appleComponent
	for _, path := range paths {
		pattern, exclude := strings.CutPrefix(path, "NOT ")
		components = append(components, appleComponent{pattern, exclude})
	}
	for _, id := range c.AppIDs {
		file.AppLinks.Details = append(file.AppLinks.Details, appleDetail{[]string{id}, components, id, paths})
	}
	return text(file)
}

// androidStatement lets an Android app open the links of the hostname (Digital Asset
// Links).
type androidStatement struct {
	Relation []string      `json:"relation"`
	Target   androidTarget `json:"target"`
}

type androidTarget struct {
	Namespace    string   `json:"namespace"`
	Package      string   `json:"package_name"`
	Fingerprints []string `json:"sha256_cert_fingerprints"`
}

// file returns the assetlinks.json file.
func (c *AndroidConfig) file() string {
	var file []androidStatement
	for _, app := range c.Apps {
		file = append(file, androidStatement{[]string{"delegate_permission/common.handle_all_urls"},
			androidTarget{"android_app", app.PackageName, app.SHA256CertFingerprints}})
	}
	return text(file)
}

// text returns a file as JSON.
func text(file any) string {
	b, err := json.Marshal(file)
	if err != nil {
		panic(err) // strings and lists of them
	}
	return string(b)
}

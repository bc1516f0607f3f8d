package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// built is what a program was made of.
type built struct {
	sum     [sha256.Size]byte
	golang  string
	modules []dependency // of Go, as the go command wrote them into the program
	scripts []dependency // of npm, which are in our folders
}

type dependency struct{ name, version string }

// vendored are the files that name scripts of npm, with their licences; each begins with a line of a
// name and a version.
var vendored = []string{"dashboard/app/vendor/LICENSES.txt", "internal/server/static/redoc.LICENSE.txt"}

var vendoredLine = regexp.MustCompile(`(?m)^(@?[a-z][a-z0-9./-]*) (\d+\.\d+\.\d+)$`)

// inspect finds out what a program was made of.
func inspect(program string) (*built, error) {
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	b := &built{sum: sha256.Sum256(content), golang: strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.modules = append(b.modules, dependency{m.Path, m.Version})
	}
	for _, file := range vendored {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		found := vendoredLine.FindAllSubmatch(text, -1)
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no line with a name and a version", file)
		}
		for _, m := range found {
			b.scripts = append(b.scripts, dependency{string(m[1]), string(m[2])})
		}
	}
	return b, nil
}

// component is one of CycloneDX.
type component struct {
	Type     string    `json:"type"`
	Ref      string    `json:"bom-ref"`
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	PURL     string    `json:"purl"`
	Hashes   []hash    `json:"hashes,omitempty"`
	Licenses []license `json:"licenses,omitempty"`
}

type hash struct {
	Algorithm string `json:"alg"`
	Content   string `json:"content"`
}

type license struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

// library returns a component that others made; purl is its package URL without the version.
func library(purl string, d dependency) component {
	purl += "@" + strings.ReplaceAll(d.version, "+", "%2B")
	return component{Type: "library", Ref: purl, Name: d.name, Version: d.version, PURL: purl}
}

// writeSBOM writes the bill of materials of a program, in the form of CycloneDX 1.6.
func (r *release) writeSBOM(name string, b *built, target string) error {
	system, machine, _ := strings.Cut(target, "/")
	purl := fmt.Sprintf("pkg:golang/github.com/waymarkhq/waymark@%s?goarch=%s&goos=%s",
		strings.ReplaceAll(r.version, "+", "%2B"), machine, system)
	own := component{Type: "application", Ref: purl, Name: "waymark", Version: r.version, PURL: purl,
		Hashes: []hash{{"SHA-256", fmt.Sprintf("%x", b.sum)}}, Licenses: make([]license, 1)}
	own.Licenses[0].License.ID = "Apache-2.0"

	components := []component{library("pkg:golang/std", dependency{"std", b.golang})}
	for _, d := range b.modules {
		components = append(components, library("pkg:golang/"+strings.ToLower(d.name), d))
	}
	for _, d := range b.scripts {
		components = append(components, library("pkg:npm/"+strings.Replace(d.name, "@", "%40", 1), d))
	}
	slices.SortFunc(components, func(a, b component) int { return cmp.Compare(a.Ref, b.Ref) })
	serial := uuid.NewSHA1(uuid.NameSpaceURL, append([]byte(purl), b.sum[:]...))
	bom := map[string]any{
		"$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json", "bomFormat": "CycloneDX", "specVersion": "1.6",
		"serialNumber": "urn:uuid:" + serial.String(), "version": 1,
		"metadata":   map[string]any{"timestamp": r.at.Format("2006-01-02T15:04:05Z"), "component": own},
		"components": components,
	}
	text, err := json.MarshalIndent(bom, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(text, '\n'), 0o644)
}

var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([._-].*)?$`)

// writeLicenses writes the licences of all that is in a program and not ours, as they want it.
func writeLicenses(name string, b *built) error {
	args := []string{"list", "-m", "-f", "{{.Path}} {{.Version}}\t{{.Dir}}"}
	for _, d := range b.modules {
		args = append(args, d.name)
	}
	folders, err := output(goCommand(), args...)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	add := func(title, folder string) error {
		files, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		fmt.Fprintf(&text, "==== %s\n\n", title)
		found := false
		for _, f := range files {
			if f.IsDir() || !licenseFile.MatchString(f.Name()) {
				continue
			}
			license, err := os.ReadFile(filepath.Join(folder, f.Name()))
			if err != nil {
				return err
			}
			text.Write(append(bytes.TrimSpace(license), "\n\n"...))
			found = true
		}
		if !found {
			return fmt.Errorf("%s has no licence in %s", title, folder)
		}
		return nil
	}
	root, err := output(goCommand(), "env", "GOROOT")
	if err != nil {
		return err
	}
	if err := add("Go "+strings.TrimPrefix(runtime.Version(), "go"), root); err != nil {
		return err
	}
	for line := range strings.SplitSeq(folders, "\n") {
		module, folder, _ := strings.Cut(line, "\t")
		if err := add(module, folder); err != nil {
			return err
		}
	}
	for _, file := range vendored {
		license, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		text.WriteString("==== ")
		text.Write(append(bytes.TrimSpace(license), "\n\n"...))
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}

// Command release builds what is published of a version, in the folder dist: for each system an
// archive and an SBOM, for Linux also deb and rpm packages, and the checksums of all. Two releases of
// one commit are equal, byte for byte, when the same version of Go makes them. Run it as make release.
package main

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// dist is where everything goes; what was there is removed.
const dist = "dist"

// maxProgram is the most bytes that a program may have, on any system.
const maxProgram = 60_000_000

// targets are the systems that are released.
var targets = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64"}

func main() {
	log.SetFlags(0)
	log.SetPrefix("release: ")
	dirty := flag.Bool("dirty", false, "release files that are not committed, too")
	flag.Parse()
	chosen := flag.Args()
	if len(chosen) == 0 {
		chosen = targets
	}
	for _, t := range chosen {
		if !slices.Contains(targets, t) {
			log.Fatalf("%s is not released; choose of %s", t, strings.Join(targets, ", "))
		}
	}
	if err := run(chosen, *dirty); err != nil {
		log.Fatal(err)
	}
}

func run(chosen []string, dirty bool) error {
	r, err := prepare(dirty)
	if err != nil {
		return err
	}
	defer os.RemoveAll(r.stage)
	if err := os.RemoveAll(dist); err != nil {
		return err
	}
	if err := os.MkdirAll(dist, 0o755); err != nil {
		return err
	}
	for _, target := range chosen {
		if err := r.target(target); err != nil {
			return fmt.Errorf("%s: %w", target, err)
		}
	}
	return sums()
}

// release is one version in the making.
type release struct {
	version  string    // as in the names of files: without v
	packaged string    // as dpkg and rpm order it
	at       time.Time // of the commit; every file has it
	stage    string    // a folder for what is no result
}

// prepare finds out what is released. A tree that differs from its commit could not be built again.
func prepare(dirty bool) (*release, error) {
	changes, err := output("git", "status", "--porcelain")
	if err != nil {
		return nil, fmt.Errorf("a release is made of a commit: %w", err)
	}
	if changes != "" && !dirty {
		return nil, fmt.Errorf("these files are not committed; commit them, or release them all the same with "+
			"make release RELEASE=-dirty:\n%s", changes)
	}
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = output("git", "log", "-1", "--format=%ct"); err != nil {
			return nil, err
		}
	}
	epoch, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	version := os.Getenv("VERSION")
	if version == "" {
		return nil, fmt.Errorf("VERSION is not set; run make release")
	}
	r := &release{version: strings.TrimPrefix(version, "v"), at: time.Unix(epoch, 0).UTC()}
	r.packaged = packageVersion(version, r.at)
	r.stage, err = os.MkdirTemp("", "waymark-release")
	return r, err
}

var (
	tagged = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.]+))?$`)
	after  = regexp.MustCompile(`^v(\d+\.\d+\.\d+)(?:-([0-9A-Za-z.]+))?-(\d+)-(g[0-9a-f]+)(-dirty)?$`)
)

// packageVersion returns what git describe says in a form that dpkg and rpm put in the right order: a
// candidate before its version, commits after a tag behind it, and before the first tag by time.
func packageVersion(described string, at time.Time) string {
	candidate := func(number, name string) string {
		if name != "" {
			return number + "~" + name
		}
		return number
	}
	if m := after.FindStringSubmatch(described); m != nil {
		return candidate(m[1], m[2]) + "+" + m[3] + "." + m[4] + strings.Replace(m[5], "-", ".", 1)
	}
	if m := tagged.FindStringSubmatch(described); m != nil && m[2] != "dirty" {
		return candidate(m[1], m[2])
	}
	return "0.0.0+" + at.Format("20060102150405") + "." + strings.ReplaceAll(described, "-", ".")
}

// target makes what is published for one system.
func (r *release) target(target string) error {
	system, machine, _ := strings.Cut(target, "/")
	program, err := r.build(system, machine)
	if err != nil {
		return err
	}
	if info, err := os.Stat(program); err != nil {
		return err
	} else if info.Size() > maxProgram {
		return fmt.Errorf("the program has %d bytes, %d are allowed", info.Size(), maxProgram)
	}
	name := filepath.Join(dist, "waymark_"+r.version+"_"+system+"_"+machine)
	b, err := inspect(program)
	if err != nil {
		return err
	}
	if err := r.writeSBOM(name+".cdx.json", b, target); err != nil {
		return err
	}
	licenses := filepath.Join(r.stage, "THIRD_PARTY_LICENSES")
	if err := writeLicenses(licenses, b); err != nil {
		return err
	}
	files := []string{program, "LICENSE", "README.md", "CHANGELOG.md", licenses}
	if system == "windows" {
		return r.zip(name+".zip", files)
	}
	if err := r.tar(name+".tar.gz", files); err != nil {
		return err
	}
	if system != "linux" {
		return nil
	}
	return r.packages(name, machine, filepath.Dir(program), licenses)
}

// build has make build the program for a system, with the flags that it always has.
func (r *release) build(system, machine string) (program string, err error) {
	program = filepath.Join(r.stage, system+"_"+machine, "waymark")
	if system == "windows" {
		program += ".exe"
	}
	log.Println("build", program)
	build := exec.Command("make", "-s", "build", "PROGRAM="+program)
	// What the environment of the builder says of the compiler would make another program.
	build.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "GOAMD64=v1", "GOARM64=v8.0",
		"GOFLAGS=-mod=readonly", "GOWORK=off", "GOEXPERIMENT=")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	return program, build.Run()
}

// packages makes the deb and the rpm of a program.
func (r *release) packages(name, machine, stage, licenses string) error {
	native := filepath.Join(r.stage, runtime.GOOS+"_"+runtime.GOARCH, "waymark")
	if _, err := os.Stat(native); err != nil {
		if native, err = r.build(runtime.GOOS, runtime.GOARCH); err != nil {
			return err
		}
	}
	for _, shell := range []string{"bash", "zsh", "fish"} {
		script, err := exec.Command(native, "completion", shell).Output()
		if err != nil {
			return fmt.Errorf("completion of %s: %w", shell, err)
		}
		if err := os.WriteFile(filepath.Join(stage, "completion."+shell), script, 0o644); err != nil {
			return err
		}
	}
	if err := os.Link(licenses, filepath.Join(stage, filepath.Base(licenses))); err != nil {
		return err
	}
	for _, kind := range []string{"deb", "rpm"} {
		nfpm := exec.Command(goCommand(), "tool", "-modfile=tools/go.mod", "nfpm", "package",
			"--config", "deploy/packages/nfpm.yaml", "--packager", kind, "--target", name+"."+kind)
		nfpm.Env = append(os.Environ(), "ARCH="+machine, "VERSION="+r.packaged, "STAGE="+stage,
			"SOURCE_DATE_EPOCH="+strconv.FormatInt(r.at.Unix(), 10))
		nfpm.Stderr = os.Stderr
		if err := nfpm.Run(); err != nil {
			return fmt.Errorf("nfpm: %w", err)
		}
	}
	return nil
}

// sums writes the checksums of all files, in the form of sha256sum.
func sums() error {
	files, err := os.ReadDir(dist)
	if err != nil {
		return err
	}
	var lines strings.Builder
	for _, f := range files {
		content, err := os.ReadFile(filepath.Join(dist, f.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&lines, "%x  %s\n", sha256.Sum256(content), f.Name())
	}
	return os.WriteFile(filepath.Join(dist, "SHA256SUMS"), []byte(lines.String()), 0o644)
}

// output runs a command and returns what it prints, without space at its ends.
func output(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// goCommand is the go command of make.
func goCommand() string {
	if named := os.Getenv("GO"); named != "" {
		return named
	}
	return "go"
}

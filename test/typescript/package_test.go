package typescript

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// The generated files are those of the contract.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	if out, err := command(source, "node", "generate.mjs", dir); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"schemas.ts", "operations.ts"} {
		if !bytes.Equal(read(t, filepath.Join(dir, name)), read(t, filepath.Join(source, "src", name))) {
			t.Errorf("%s is not of this contract; run npm run generate in clients/typescript", name)
		}
	}
}

// The package has its modules with their types, and nothing else; it depends on no other.
func TestPackage(t *testing.T) {
	want := []string{"LICENSE", "README.md", "package.json"}
	for _, module := range []string{"answer", "errors", "index", "operations", "request", "retry", "schemas", "types", "waymark", "webhook"} {
		want = append(want, "dist/"+module+".js", "dist/"+module+".d.ts")
	}
	slices.Sort(want)
	var got []string
	folder := filepath.Join(user, "node_modules/@waymarkhq/client")
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			got = append(got, filepath.ToSlash(strings.TrimPrefix(path, folder+string(filepath.Separator))))
		}
		return err
	})
	slices.Sort(got)
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("the package has %v (%v), want %v", got, err, want)
	}
	others, err := filepath.Glob(filepath.Join(user, "node_modules/*/*"))
	if err != nil || !slices.Equal(others, []string{folder}) {
		t.Errorf("besides it, these are installed: %v, %v", others, err)
	}
	if !bytes.Equal(read(t, filepath.Join(folder, "LICENSE")), read(t, "../../LICENSE")) {
		t.Error("the licence is not that of the project")
	}
}

// A program of a user is checked as strictly as can be. What must not compile is marked in it.
func TestTypes(t *testing.T) {
	compile(t, filepath.Join(user, "program.ts"), "--noEmit")
}

// compile has the compiler check a file in the folder of the user.
func compile(t *testing.T, file string, flags ...string) {
	t.Helper()
	compiler, err := filepath.Abs(filepath.Join(source, "node_modules/typescript/bin/tsc"))
	if err != nil {
		t.Fatal(err)
	}
	out, err := command(user, "node", append([]string{compiler, "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess",
		"--target", "es2022", "--module", "nodenext", "--lib", "es2022,dom", file}, flags...)...)
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Package gotfe_test runs go-tfe's own tests, unmodified, against a running Gatehouse: those of the files that are about what Gatehouse
// serves (contract 6.2, 6.3, 6.4 and 6.5).
//
// go-tfe comes from its module, which go.mod pins by version and go.sum by content. A test must pass, unless go-tfe itself leaves it out or
// not_served.txt names it with a reason; and what is named there must not pass.
package gotfe_test

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	// Pins the module whose tests are run.
	_ "github.com/hashicorp/go-tfe"
)

const module = "github.com/hashicorp/go-tfe"

func TestGoTfe(t *testing.T) {
	settings, err := loadSettings()
	must(t, err)
	listed, err := notServedIn(settings.edition)
	must(t, err)
	source, err := output("go", "list", "-f", "{{.Dir}}", module)
	must(t, err)
	tests, err := testsOf(source)
	must(t, err)
	token, err := settings.newSiteAdministrator()
	must(t, err)
	program := filepath.Join(t.TempDir(), "tests")
	_, err = output("go", "test", "-c", "-o", program, module)
	must(t, err)
	suite := suite{program: program, source: source, environment: settings.environment(token)}
	outcomes := make(map[string]*outcome)
	for _, group := range groups(tests, listed) {
		must(t, suite.run(group, outcomes))
	}

	// A test that was to run and did not has no outcome.
	names := slices.Concat(tests, slices.Collect(maps.Keys(listed)), slices.Collect(maps.Keys(outcomes)))
	slices.Sort(names)
	numbers := make(map[verdict]int)
	for _, name := range slices.Compact(names) {
		verdict, why := judge(name, outcomes[name], listed)
		numbers[verdict]++
		t.Run(name, func(t *testing.T) {
			switch verdict {
			case leftOut, notServed:
				t.Skip(why)
			case wrong:
				t.Error(why)
			}
		})
	}
	t.Logf("%s: %d passed, %d left out by go-tfe, %d not served, %d wrong",
		settings.edition, numbers[passed], numbers[leftOut], numbers[notServed], numbers[wrong])
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Command gotfe runs go-tfe's own tests, unmodified, against a running Gatehouse: those of the files that are about what Gatehouse serves.
//
// go-tfe comes from its module, which go.mod pins by version and go.sum by content. A test must pass, unless go-tfe itself leaves it out or
// not_served.txt names it with a reason; and what is named there must not pass.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	// Pins the module whose tests are run.
	_ "github.com/hashicorp/go-tfe"
)

const module = "github.com/hashicorp/go-tfe"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	settings, err := loadSettings()
	if err != nil {
		return err
	}
	notServed, err := notServedIn(settings.edition)
	if err != nil {
		return err
	}
	source, err := output("go", "list", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	tests, err := testsOf(source)
	if err != nil {
		return err
	}
	token, err := settings.newSiteAdministrator()
	if err != nil {
		return err
	}
	folder, err := os.MkdirTemp("", "go-tfe")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	program := filepath.Join(folder, "tests")
	if _, err := output("go", "test", "-c", "-o", program, module); err != nil {
		return err
	}
	suite := suite{program: program, source: source, environment: settings.environment(token)}
	outcomes := make(map[string]*outcome)
	for _, group := range groups(tests, notServed) {
		if err := suite.run(group, outcomes); err != nil {
			return err
		}
	}
	return report(settings.edition, tests, outcomes, notServed)
}

// report prints one line for each test that passed, and the numbers; its error has all that is not as it must be.
func report(edition string, tests []string, outcomes map[string]*outcome, notServed map[string]string) error {
	verdicts := judge(tests, outcomes, notServed)
	for _, name := range verdicts.passed {
		fmt.Println("ok:", name)
	}
	for _, name := range verdicts.leftOut {
		fmt.Printf("left out by go-tfe: %s: %s\n", name, outcomes[name].reason())
	}
	fmt.Printf("%s: %d passed, %d left out by go-tfe, %d not served\n",
		edition, len(verdicts.passed), len(verdicts.leftOut), len(notServed))
	if len(verdicts.wrong) > 0 {
		return errors.New("FAILED:\n" + strings.Join(verdicts.wrong, "\n"))
	}
	return nil
}

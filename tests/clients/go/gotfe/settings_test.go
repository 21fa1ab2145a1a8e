package gotfe_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"strings"
)

const mediaType = "application/vnd.api+json"

// settings tell what server is driven: see tests/clients/README.md.
type settings struct {
	address, rootToken, edition string
}

func loadSettings() (settings, error) {
	var missing []string
	value := func(name string) string {
		value := os.Getenv(name)
		if value == "" {
			missing = append(missing, name)
		}
		return value
	}
	loaded := settings{
		address:   value("GATEHOUSE_ADDRESS"),
		rootToken: value("GATEHOUSE_ROOT_TOKEN"),
		edition:   value("GATEHOUSE_EDITION"),
	}
	if len(missing) > 0 {
		return loaded, fmt.Errorf("not set: %s (see tests/clients/README.md)", strings.Join(missing, ", "))
	}
	return loaded, nil
}

// newSiteAdministrator makes a user who administers the site, and returns its token: go-tfe has no call for that.
func (s settings) newSiteAdministrator() (string, error) {
	username := "go-tfe-" + strings.ToLower(rand.Text())
	user := map[string]any{"data": map[string]any{
		"type":       "users",
		"attributes": map[string]any{"username": username, "email": username + "@example.com", "is-site-admin": true},
	}}
	body, err := json.Marshal(user)
	if err != nil {
		return "", err
	}
	request, err := http.NewRequest(http.MethodPost, s.address+"/api/v2/admin/users", bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+s.rootToken)
	request.Header.Set("Content-Type", mediaType)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	var made struct {
		Meta struct {
			Token string `json:"token"`
		} `json:"meta"`
	}
	if err := json.NewDecoder(response.Body).Decode(&made); err != nil {
		return "", err
	}
	if response.StatusCode >= 300 || made.Meta.Token == "" {
		return "", fmt.Errorf("the site administrator cannot be made: %s", response.Status)
	}
	return made.Meta.Token, nil
}

// environment returns the environment of go-tfe's tests: no variable that they read comes from the environment of this program.
func (s settings) environment(token string) []string {
	var environment []string
	for _, variable := range os.Environ() {
		if !readByTests(variable) {
			environment = append(environment, variable)
		}
	}
	environment = append(environment, "TFE_ADDRESS="+s.address, "TFE_TOKEN="+token, "ENABLE_BETA=1")
	for _, role := range []string{
		"SITE_ADMIN", "CONFIGURATION", "PROVISION_LICENSES", "SUBSCRIPTION", "SUPPORT", "SECURITY_MAINTENANCE", "VERSION_MAINTENANCE",
	} {
		environment = append(environment, "TFE_ADMIN_"+role+"_TOKEN="+token)
	}
	if s.edition == "self-hosted" {
		environment = append(environment, "ENABLE_TFE=1")
	}
	return environment
}

func readByTests(variable string) bool {
	for _, prefix := range []string{"ENABLE_", "GITHUB_", "HYOK_", "OAUTH_", "SKIP_", "TFC_", "TFE_"} {
		if strings.HasPrefix(variable, prefix) {
			return true
		}
	}
	return false
}

// output returns what a program prints, trimmed at both ends; the error of a program that fails includes its standard error.
func output(name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	printed, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(arguments, " "), err, complaints.String())
	}
	return strings.TrimSpace(string(printed)), nil
}

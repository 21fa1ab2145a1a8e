package vault_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/hashicorp/vault/api"
	"github.com/stretchr/testify/require"
)

func TestApiSeesAServerThatIsReady(t *testing.T) {
	anonymous := client(t, "")
	health, err := anonymous.Sys().Health()
	require.NoError(t, err)
	require.True(t, health.Initialized)
	require.False(t, health.Sealed)
	require.False(t, health.Standby)
	seal, err := anonymous.Sys().SealStatus()
	require.NoError(t, err)
	require.False(t, seal.Sealed)
	_, err = anonymous.Sys().Leader()
	require.NoError(t, err)
	_, err = anonymous.Sys().ListAuth()
	refused(t, err, http.StatusForbidden, "permission denied")
}

func TestApiManagesMounts(t *testing.T) {
	const path = "go/mounts"
	mount(t, path)
	root := root(t)
	mounts, err := root.Sys().ListAuth()
	require.NoError(t, err)
	require.Equal(t, "gcp", mounts[path+"/"].Type)
	require.Equal(t, "for Go", mounts[path+"/"].Description)
	require.Contains(t, mounts, "token/")
	one, err := root.Sys().GetAuth(path)
	require.NoError(t, err)
	require.Equal(t, mounts[path+"/"].Accessor, one.Accessor)
	err = root.Sys().EnableAuthWithOptions(path, &api.EnableAuthOptions{Type: "gcp"})
	refused(t, err, http.StatusBadRequest, "path is already in use at "+path+"/")

	description := "tuned"
	err = root.Sys().TuneMount("auth/"+path, api.MountConfigInput{
		DefaultLeaseTTL: "1h", MaxLeaseTTL: "2h", Description: &description, ListingVisibility: "unauth",
	})
	require.NoError(t, err)
	config, err := root.Sys().MountConfig("auth/" + path)
	require.NoError(t, err)
	require.Equal(t, 3600, config.DefaultLeaseTTL)
	require.Equal(t, 7200, config.MaxLeaseTTL)
	one, err = root.Sys().GetAuth(path)
	require.NoError(t, err)
	require.Equal(t, description, one.Description)
}

func TestApiManagesRoles(t *testing.T) {
	const path = "go-roles"
	mount(t, path)
	logical := root(t).Logical()
	role(t, path, "dev", map[string]any{"token_policies": []string{"one", "two"}, "token_ttl": "10m", "token_max_ttl": 1200})

	read, err := logical.Read("auth/" + path + "/role/dev")
	require.NoError(t, err)
	require.Equal(t, "iam", read.Data["type"])
	require.Equal(t, []any{"one", "two"}, read.Data["token_policies"])
	require.Equal(t, "600", text(read.Data["token_ttl"]))
	require.Equal(t, "1200", text(read.Data["token_max_ttl"]))

	other := "other@" + environment.project + ".iam.gserviceaccount.com"
	write(t, "auth/"+path+"/role/dev/service-accounts", map[string]any{"add": other, "remove": environment.serviceAccount})
	read, err = logical.Read("auth/" + path + "/role/dev")
	require.NoError(t, err)
	require.Equal(t, []any{other}, read.Data["bound_service_accounts"])

	listed, err := logical.List("auth/" + path + "/role")
	require.NoError(t, err)
	require.Equal(t, []any{"dev"}, listed.Data["keys"])
	_, err = logical.Delete("auth/" + path + "/role/dev")
	require.NoError(t, err)
	gone, err := logical.Read("auth/" + path + "/role/dev")
	require.NoError(t, err)
	require.Nil(t, gone)
	_, err = logical.Write("auth/"+path+"/role/nobody", map[string]any{"type": "iam"})
	refused(t, err, http.StatusBadRequest, "IAM role type must have at least one service account")
}

func TestApiManagesPoliciesThatDecide(t *testing.T) {
	const name = "go-policies"
	const rules = `path "sys/policies/acl/go-policies" { capabilities = ["read"] }`
	policy(t, name, rules)
	root := root(t)
	names, err := root.Sys().ListPolicies()
	require.NoError(t, err)
	require.Contains(t, names, name)
	read, err := root.Sys().GetPolicy(name)
	require.NoError(t, err)
	require.Equal(t, rules, read)
	err = root.Sys().PutPolicy("go-broken", "path {")
	refused(t, err, http.StatusBadRequest, "failed to parse policy")

	held, err := root.Auth().Token().Create(&api.TokenCreateRequest{Policies: []string{name}, TTL: "5m"})
	require.NoError(t, err)
	holder := client(t, held.Auth.ClientToken)
	capabilities, err := holder.Sys().CapabilitiesSelf("sys/policies/acl/" + name)
	require.NoError(t, err)
	require.Equal(t, []string{"read"}, capabilities)
	capabilities, err = root.Sys().Capabilities(held.Auth.ClientToken, "sys/auth")
	require.NoError(t, err)
	require.Equal(t, []string{"deny"}, capabilities)
	_, err = holder.Sys().GetPolicy(name)
	require.NoError(t, err)
	err = holder.Sys().PutPolicy(name, rules)
	refused(t, err, http.StatusForbidden, "permission denied")

	require.NoError(t, root.Sys().DeletePolicy(name))
	_, err = holder.Sys().GetPolicy(name)
	refused(t, err, http.StatusForbidden, "permission denied")
}

func TestApiManagesTokens(t *testing.T) {
	tokens := root(t).Auth().Token()
	parent, err := tokens.Create(&api.TokenCreateRequest{Policies: []string{"root"}, TTL: "10m", DisplayName: "go", Metadata: map[string]string{"of": "go"}})
	require.NoError(t, err)
	parentTokens := client(t, parent.Auth.ClientToken).Auth().Token()
	child, err := parentTokens.Create(&api.TokenCreateRequest{Policies: []string{"default"}, TTL: "5m"})
	require.NoError(t, err)
	orphan, err := parentTokens.CreateOrphan(&api.TokenCreateRequest{Policies: []string{"default"}, TTL: "5m"})
	require.NoError(t, err)

	self, err := parentTokens.LookupSelf()
	require.NoError(t, err)
	require.Equal(t, "token-go", self.Data["display_name"])
	require.Equal(t, map[string]any{"of": "go"}, self.Data["meta"])
	byAccessor, err := tokens.LookupAccessor(parent.Auth.Accessor)
	require.NoError(t, err)
	require.Empty(t, byAccessor.Data["id"])
	byToken, err := tokens.Lookup(child.Auth.ClientToken)
	require.NoError(t, err)
	require.Equal(t, child.Auth.Accessor, byToken.Data["accessor"])

	renewed, err := tokens.Renew(child.Auth.ClientToken, 120)
	require.NoError(t, err)
	require.Equal(t, 120, renewed.Auth.LeaseDuration)
	renewed, err = parentTokens.RenewSelf(300)
	require.NoError(t, err)
	require.Equal(t, 300, renewed.Auth.LeaseDuration)
	renewed, err = tokens.RenewAccessor(child.Auth.Accessor, 180)
	require.NoError(t, err)
	require.Equal(t, 180, renewed.Auth.LeaseDuration)

	require.NoError(t, tokens.RevokeTree(parent.Auth.ClientToken))
	for _, gone := range []*api.Secret{parent, child} {
		_, err = tokens.Lookup(gone.Auth.ClientToken)
		refused(t, err, http.StatusForbidden, "bad token")
	}
	_, err = tokens.Lookup(orphan.Auth.ClientToken)
	require.NoError(t, err)
	require.NoError(t, tokens.RevokeAccessor(orphan.Auth.Accessor))
	_, err = tokens.Lookup(orphan.Auth.ClientToken)
	refused(t, err, http.StatusForbidden, "bad token")
}

func TestApiMakesTokensByARole(t *testing.T) {
	root := root(t)
	write(t, "auth/token/roles/go", map[string]any{"allowed_policies": "default", "orphan": true, "token_period": "1h"})
	t.Cleanup(func() {
		_, err := root.Logical().Delete("auth/token/roles/go")
		require.NoError(t, err)
	})
	made, err := root.Auth().Token().CreateWithRole(&api.TokenCreateRequest{Policies: []string{"default"}}, "go")
	require.NoError(t, err)
	require.True(t, made.Auth.Orphan)
	require.Equal(t, 3600, made.Auth.LeaseDuration)
	_, err = root.Auth().Token().CreateWithRole(&api.TokenCreateRequest{Policies: []string{"other"}}, "go")
	refused(t, err, http.StatusBadRequest, "policies")
	made, err = client(t, made.Auth.ClientToken).Auth().Token().LookupSelf()
	require.NoError(t, err)
	require.Equal(t, "go", made.Data["role"])
}

func TestApiWrapsAndRewraps(t *testing.T) {
	root := root(t)
	root.SetWrappingLookupFunc(func(_, path string) string {
		if path == "sys/wrapping/wrap" || path == "sys/wrapping/rewrap" {
			return "5m"
		}
		return ""
	})
	wrapped, err := root.Logical().Write("sys/wrapping/wrap", map[string]any{"said": "once"})
	require.NoError(t, err)
	properties, err := root.Logical().Write("sys/wrapping/lookup", map[string]any{"token": wrapped.WrapInfo.Token})
	require.NoError(t, err)
	require.Equal(t, "sys/wrapping/wrap", properties.Data["creation_path"])
	again, err := root.Logical().Write("sys/wrapping/rewrap", map[string]any{"token": wrapped.WrapInfo.Token})
	require.NoError(t, err)
	_, err = root.Logical().Unwrap(wrapped.WrapInfo.Token)
	refused(t, err, http.StatusBadRequest, "wrapping token is not valid or does not exist")
	opened, err := root.Logical().Unwrap(again.WrapInfo.Token)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"said": "once"}, opened.Data)
	require.WithinDuration(t, time.Now(), again.WrapInfo.CreationTime, time.Hour)
}

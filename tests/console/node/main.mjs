// The console in a Chromium: scenarios without scripts, then every page for people who see little, use no mouse, or read on a phone.
//
// GATEHOUSE holds the address and tokens of a server as JSON. Where PICTURES names a folder, the pictures of the docs are written there.

import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { launch, Visitor } from "./browser.mjs";

const server = JSON.parse(process.env.GATEHOUSE);
const pictures = process.env.PICTURES;
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Width of a small phone. */
const PHONE = 360;

async function picture(visitor, name) {
  if (!pictures) return;
  const path = join(pictures, `${name}.webp`);
  await visitor.page.screenshot({ path, type: "webp", quality: 60 });
}

async function scenario(name, run) {
  const begun = Date.now();
  await run();
  console.log(`${name}: ${Date.now() - begun} ms`);
}

const browser = await launch();
try {
  const root = await Visitor.at(browser, server.address);

  await scenario("a visitor signs in", async () => {
    await root.go("/");
    assert.equal(await root.heading(), "Sign in");
    await root.signIn(server.root_token);
    await root.says("ready");
    await picture(root, "overview");
  });

  await scenario("the method is enabled and configured, and a role made", async () => {
    await root.follow("Auth mounts");
    await root.type("Enable", { path: "by-browser" });
    await picture(root, "enable");
    await root.submit("Enable", { description: "<b>Ours</b>" });
    assert.equal(await root.heading(), "Configuration of by-browser");
    // The development server has a Google of its own.
    const filled = { credentials: server.credentials, custom_endpoint: server.endpoints };
    await root.submit("Save", filled);
    await root.says("The configuration is saved");
    assert(!(await root.page.content()).includes("PRIVATE KEY"));
    await picture(root, "configuration");
    await root.follow("Check what Google grants");
    assert.equal(await root.heading(), "What Google grants by-browser");
    await root.follow("Auth mounts");
    await root.says("<b>Ours</b>");
    await root.go("/ui/mounts/config?mount=by-browser");
    await root.follow("roles");
    await root.follow("Make a role");
    const status = await root.submit("Save the role", {
      name: "by-browser",
      type: "iam",
      bound_service_accounts: server.account,
      token_policies: "default",
      token_ttl: "600",
    });
    assert.equal(status, 200);
    await root.says("The role is saved");
    await root.page.evaluate(() => scrollTo(0, 0));
    await picture(root, "role");
  });

  await scenario("a refused login is explained", async () => {
    await root.follow("Why was this login refused?");
    const asked = { mount: "by-browser", role: "by-browser", jwt: server.refused_jwt };
    await root.submit("Explain", asked);
    await root.says("This login is refused");
    // The signature is right; the account is another one.
    const outcomes = await root.page.$$eval("tbody tr", (rows) =>
      rows.map((row) => [row.cells[0].textContent, row.cells[1].textContent]),
    );
    const failed = outcomes.filter(([, outcome]) => outcome === "failed").map(([check]) => check);
    assert.equal(failed.length, 1, JSON.stringify(outcomes));
    assert(failed[0].includes("account"), JSON.stringify(outcomes));
    await root.page.$eval("span.failed", (it) => it.scrollIntoView({ block: "end" }));
    await picture(root, "explain");
  });

  await scenario("a mistake in a policy is shown with its line", async () => {
    await root.go("/ui/policies/edit");
    const policy = 'path "auth/by-browser/role/*" {\n  capabilities = oops\n}\n';
    const status = await root.submit("Save the policy", { name: "by-browser", policy });
    assert.equal(status, 400);
    await root.says("Line 2:");
    await picture(root, "policy");
  });

  let token;
  await scenario("an organization is made, and a person invited", async () => {
    await root.follow("Organizations");
    await root.submit("Make it", { name: "by-browser", email: "ops@example.com" });
    assert.equal(await root.heading(), "Settings of by-browser");
    await picture(root, "settings");
    await root.go("/ui/site");
    await root.submit("Make the user", { username: "brenda", email: "brenda@example.com" });
    token = await root.page.$eval("pre", (it) => it.textContent);
    await root.go("/ui/organizations/teams?name=by-browser");
    await root.submit("Make the team", { team: "guests" });
    const id = await root.page.$eval("tr:has(a):last-child code", (it) => it.textContent);
    await root.go("/ui/organizations/members?name=by-browser");
    await root.submit("Invite", { email: "brenda@example.com", team: id });
    await root.says("invited");
    await picture(root, "organization");
  });

  await scenario("the invitation is accepted, and a page of the site refused", async () => {
    const guest = await Visitor.at(browser, server.address);
    await guest.signIn(token, "api_token");
    await guest.go("/ui/organizations");
    await guest.submit("Join by-browser", {});
    assert.equal(await guest.heading(), "Organizations");
    assert.equal(await guest.go("/ui/site"), 404);
    await guest.says("Only site administrators");
  });

  await scenario("the keyboard goes through a page in its order, and shows where it is", async () => {
    await root.go("/ui/mounts");
    const places = [];
    for (let step = 0; step < 12; step += 1) {
      await root.page.keyboard.press("Tab");
      places.push(
        await root.page.evaluate(() => {
          const all = [...document.querySelectorAll("*")];
          const it = document.activeElement;
          const box = it.getBoundingClientRect();
          return {
            index: all.indexOf(it),
            text: it.textContent.trim().slice(0, 40),
            outline: getComputedStyle(it).outlineStyle,
            seen: box.width > 0 && box.left >= 0 && box.top >= 0 && box.top < innerHeight,
          };
        }),
      );
    }
    assert.equal(places[0].text, "Skip to the content");
    for (const [step, place] of places.entries()) {
      assert(place.seen && place.outline !== "none", JSON.stringify(place));
      if (step > 0) assert(place.index > places[step - 1].index, JSON.stringify(places));
    }
  });

  const faults = [];

  /** Judges the page that `judge` is at, called `name` where it has a fault. */
  async function judged(judge, name) {
    await judge.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "light" }]);
    await judge.page.evaluate(axe);
    for (const value of ["light", "dark"]) {
      await judge.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value }]);
      const found = await judge.page.evaluate(async (first) => {
        const options = first ? {} : { runOnly: ["color-contrast"] };
        const { violations } = await globalThis.axe.run(document, options);
        return violations.map((it) => [it.id, it.impact, it.nodes[0].html]);
      }, value === "light");
      const serious = found.filter(([, impact]) => ["serious", "critical"].includes(impact));
      faults.push(...serious.map((it) => [name, value, ...it]));
    }
    await judge.page.setViewport({ width: PHONE, height: 640 });
    const width = await judge.page.evaluate(() => document.documentElement.scrollWidth);
    if (width > PHONE) faults.push([name, `${width} pixels wide on a phone`]);
    await judge.page.setViewport({ width: 1000, height: 700 });
  }

  await scenario("the checker sees a fault where one is", async () => {
    const judge = await Visitor.at(browser, server.address, { scripts: true });
    await judge.go("/ui/sign-in");
    await judge.page.evaluate(axe);
    const planted = await judge.page.evaluate(async () => {
      document.querySelector("main").append(document.createElement("input"));
      const { violations } = await globalThis.axe.run(document);
      return violations.map((it) => it.id);
    });
    assert(planted.includes("label"), `${planted}`);
  });

  for (const site of server.sites) {
    await scenario(`every page suits eyes, readers of screens, and phones: ${site.pages.length}`, async () => {
      const judge = await Visitor.at(browser, site.address, { scripts: true });
      await judge.go("/ui/sign-in");
      await judged(judge, "/ui/sign-in without a session");
      await judge.signIn(site.root_token);
      for (const [path, expected] of site.pages) {
        assert.equal(await judge.go(path), expected, path);
        await judged(judge, path);
      }
    });
  }

  await scenario("so do pages that answer a form", async () => {
    const judge = await Visitor.at(browser, server.address, { scripts: true });
    await judge.signIn(server.root_token);
    const policy = "path oops";
    for (const [page, button, fields] of [
      ["/ui/explain", "Explain", { mount: "by-browser", role: "by-browser", jwt: server.refused_jwt }],
      ["/ui/policies/edit", "Save the policy", { name: "refused", policy }],
      ["/ui/capabilities", "Ask", { paths: "auth/by-browser/role/by-browser" }],
      ["/ui/mounts", "Disable by-browser", {}],
      ["/ui/mounts/tune?mount=by-browser", "Save", { default_lease_ttl: "20", max_lease_ttl: "10" }],
      ["/ui/tokens", "Look up", { accessor: "gone" }],
      ["/ui/organizations/token?name=by-browser", "Make a token", {}],
    ]) {
      await judge.go(page);
      await judge.submit(button, fields);
      await judged(judge, `${page}: ${button}`);
    }
  });

  await scenario("so do those on which a user makes and revokes an API token", async () => {
    const judge = await Visitor.at(browser, server.address, { scripts: true });
    await judge.signIn(token, "api_token");
    await judge.follow("Your API tokens");
    await judge.submit("Make a token", { description: "laptop" });
    assert.equal(await judge.heading(), "A token of yours");
    await judged(judge, "a token of a user");
    await judge.follow("Go on");
    await judged(judge, "the tokens of a user");
    assert.equal(await judge.submit("Revoke laptop", {}), 200);
    assert.equal(await judge.heading(), "Revoke laptop");
    await judged(judge, "a token of a user that is to be revoked");
    assert.equal(await judge.submit("Revoke the token", {}), 200);
    assert.equal(await judge.heading(), "Your API tokens");
    assert(!(await judge.text()).includes("laptop"));
    const only = await judge.page.$$eval("tbody button", (all) => all.map((it) => it.textContent));
    assert.equal(only.length, 1, `${only}`);
    await judge.submit(only[0], {});
    await judge.says("This is your only API token");
    await judged(judge, "the only token of a user that is to be revoked");
    assert.equal(await judge.submit("Revoke the token", {}), 400);
    await judged(judge, "the only token of a user without the box ticked");
    assert.equal(await judge.submit("Revoke the token", { last: true }), 200);
    assert.equal(await judge.heading(), "You are signed out");
    await judged(judge, "the end of a session with its token");
  });

  /** Judges the refusal that `judge` has come to, which is where the keyboard and screen readers begin. */
  async function judgedRefusal(judge, name, heading) {
    assert.equal(await judge.heading(), heading, name);
    assert((await judge.page.title()).startsWith("Error: "), name);
    await judged(judge, name);
  }

  /** Sends the form with that button after `change` has changed it, in a way that no visitor can. */
  async function submitChanged(judge, text, fields, change) {
    const form = await judge.type(text, fields);
    await form.evaluate(change);
    const button = await form.$("button");
    const [answer] = await Promise.all([judge.page.waitForNavigation(), button.click()]);
    return answer.status();
  }

  /** Gives `judge` a cookie that no server has sealed. */
  async function spoilSession(judge) {
    const url = judge.address;
    await judge.page.setCookie({ name: "gatehouse-console", value: "AAAA", url });
  }

  await scenario("so do refusals of forms, each with what is wrong where the keyboard begins", async () => {
    const judge = await Visitor.at(browser, server.address, { scripts: true });
    await judge.signIn(server.root_token);
    for (const [page, button, fields] of [
      ["/ui/mounts", "Enable", { path: "by-browser" }],
      ["/ui/mounts/config?mount=by-browser", "Save", { credentials: "{" }],
      ["/ui/roles/edit?mount=by-browser", "Save the role", { name: "by-browser" }],
      ["/ui/roles/edit?mount=by-browser&role=by-browser", "Save the role", { token_ttl: "soon" }],
      ["/ui/organizations", "Make it", { name: "by-browser", email: "" }],
      ["/ui/organizations/show?name=by-browser", "Delete the organization", { typed: "other" }],
      ["/ui/organizations/members?name=by-browser", "Invite", { email: "nobody", team: "none" }],
      ["/ui/identity/merge", "Merge them", { stays: "gone", merged: "gone" }],
      ["/ui/site", "Make the user", { username: "", email: "" }],
    ]) {
      await judge.go(page);
      const name = `${page}: ${button}, refused`;
      const status = await judge.submit(button, fields);
      assert(status >= 400 && status < 500, `${name}: ${status}: ${await judge.text()}`);
      await judge.page.waitForFunction(() => document.activeElement.className === "refused");
      assert((await judge.page.title()).startsWith("Error: "), name);
      await judged(judge, name);
    }
  });

  await scenario("so do refusals of forms that no page of the session made", async () => {
    const judge = await Visitor.at(browser, server.address, { scripts: true });
    await judge.signIn(server.root_token);
    await judge.go("/ui/mounts");
    const spoil = (form) => (form.querySelector("[name=form_key]").value = "AAAA");
    const fields = { path: "forged" };
    assert.equal(await submitChanged(judge, "Enable", fields, spoil), 403);
    await judgedRefusal(judge, "a forged form", "This form was not made in your session");

    // A form that is sent as it was before, as browsers do that load the answer to it again.
    await judge.go("/ui/policies/edit");
    const policy = 'path "a" { capabilities = ["read"] }';
    const form = await judge.type("Save the policy", { name: "sent-twice", policy });
    const sent = await form.evaluate((it) => [...new FormData(it)]);
    assert.equal(await judge.submit("Save the policy", {}), 200);
    await judge.go("/ui/policies/edit");
    const again = (it, before) => {
      for (const [name, value] of before) it.querySelector(`[name="${name}"]`).value = value;
    };
    const second = await judge.form("Save the policy");
    await second.evaluate(again, sent);
    assert.equal(await judge.submit("Save the policy", {}), 409);
    await judgedRefusal(judge, "a form that was sent before", "This form was sent before");

    await judge.go("/ui/explain");
    const lengthen = (it) => (it.querySelector("[name=jwt]").value = "a".repeat(600 * 1024));
    assert.equal(await submitChanged(judge, "Explain", {}, lengthen), 413);
    await judgedRefusal(judge, "a long form", "This form is too long");

    await judge.go("/ui/policies/edit");
    await judge.type("Save the policy", { name: "late", policy });
    await spoilSession(judge);
    assert.equal(await judge.submit("Save the policy", {}), 401);
    await judge.says("It was not carried out");
    await judgedRefusal(judge, "a form after the end of its session", "Sign in");
    await spoilSession(judge);
    assert.equal(await judge.go("/ui/policies"), 401);
    await judgedRefusal(judge, "a session that is over", "Sign in");
    await judge.go("/ui/sign-in");
    assert.equal(await judge.submit("Sign in with the token", { token: "hvs.wrong" }), 403);
    await judgedRefusal(judge, "a wrong token", "Sign in");
    await judge.signIn(server.root_token);
    await judge.submit("Sign out", {});
    await judged(judge, "the end of a session");
  });

  await scenario("so do pages of those who may see little", async () => {
    const judge = await Visitor.at(browser, server.address, { scripts: true });
    await judge.signIn(server.limited_token);
    await judged(judge, "the overview of a limited token");
    for (const page of ["/ui/mounts", "/ui/policies", "/ui/identity", "/ui/leases"]) {
      assert.equal(await judge.go(page), 403, page);
      await judgedRefusal(judge, `${page} for a limited token`, "Your token does not allow this");
    }
    assert.equal(await judge.go("/ui/tokens"), 200);
    await judged(judge, "/ui/tokens for a limited token");
    assert.equal(await judge.go("/ui/site"), 404);
    await judgedRefusal(judge, "/ui/site for a limited token", "Site administration");
  });

  await scenario("so do pages of a server that is sealed", async () => {
    const { address, root_token } = server.sealable;
    const judge = await Visitor.at(browser, address, { scripts: true });
    await judge.signIn(root_token);
    const headers = { "X-Vault-Token": root_token };
    const sealing = await fetch(`${address}/v1/sys/seal`, { method: "PUT", headers });
    assert(sealing.ok, `${sealing.status}`);
    assert.equal(await judge.go("/ui/"), 200);
    await judge.says("sealed");
    await judged(judge, "the overview of a sealed server");
    for (const page of ["/ui/policies", "/ui/organizations"]) {
      assert.equal(await judge.go(page), 503, page);
      await judgedRefusal(judge, `${page} of a sealed server`, "The server cannot do this now");
    }
    const late = await Visitor.at(browser, address, { scripts: true });
    await late.go("/ui/sign-in");
    assert.equal(await late.submit("Sign in with the token", { token: root_token }), 503);
    await judgedRefusal(late, "signing in at a sealed server", "Sign in");
  });
  assert.deepEqual(faults, []);
} finally {
  await browser.close();
}

// The browser: one for all scenarios, and pages in it that fill in forms as a person does.

import assert from "node:assert/strict";
import chromium from "@sparticuz/chromium";
import puppeteer from "puppeteer-core";

/** Milliseconds that a page may take to come. */
const TIMEOUT = 30_000;

export async function launch() {
  return puppeteer.launch({
    executablePath: await chromium.executablePath(),
    headless: "shell",
    // A sandbox takes rights that a container's root and users of CI lack; the pages are ours alone.
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars"],
  });
}

/** A visitor: a tab with cookies of its own. */
export class Visitor {
  static async at(browser, address, { scripts = false } = {}) {
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    await page.setJavaScriptEnabled(scripts);
    await page.setViewport({ width: 1000, height: 700 });
    page.setDefaultTimeout(TIMEOUT);
    return new Visitor(page, address);
  }

  constructor(page, address) {
    this.page = page;
    this.address = address;
  }

  async go(path) {
    const answer = await this.page.goto(this.address + path);
    return answer.status();
  }

  /** Follows the first link with that text. */
  async follow(text) {
    for (const link of await this.page.$$("a")) {
      if ((await link.evaluate((it) => it.textContent.trim())) !== text) continue;
      await Promise.all([this.page.waitForNavigation(), link.click()]);
      return;
    }
    throw new Error(`no link has the text "${text}": ${await this.text()}`);
  }

  /** Fills in fields by their names, in the form whose button has that text, and presses it. */
  async submit(text, fields) {
    const form = await this.type(text, fields);
    const button = await form.$("button");
    const [answer] = await Promise.all([this.page.waitForNavigation(), button.click()]);
    return answer.status();
  }

  /** Fills in fields by their names, in the form whose button has that text. */
  async type(text, fields) {
    const form = await this.form(text);
    for (const [name, value] of Object.entries(fields)) {
      const field = await form.$(`[name="${name}"]`);
      assert(field, `the form "${text}" has no field ${name}: ${await this.text()}`);
      const kind = await field.evaluate((it) => (it.tagName === "SELECT" ? "select" : it.type));
      if (kind === "select") await field.select(value);
      else if (kind === "checkbox") {
        if ((await field.evaluate((it) => it.checked)) !== value) await field.click();
      } else {
        await field.evaluate((it) => (it.value = ""));
        await field.type(value);
      }
    }
    return form;
  }

  async form(text) {
    for (const form of await this.page.$$("form")) {
      const button = await form.$eval("button", (it) => it.textContent.trim());
      if (button === text) return form;
    }
    throw new Error(`no form has the button "${text}": ${await this.text()}`);
  }

  /** Signs in by the form whose token is in that field. */
  async signIn(token, field = "token") {
    await this.go("/ui/sign-in");
    const form = await this.page.$(`form:has(input[name="${field}"])`);
    await (await form.$(`[name="${field}"]`)).type(token);
    const button = await form.$("button");
    await Promise.all([this.page.waitForNavigation(), button.click()]);
    assert.equal(await this.heading(), "Overview");
  }

  heading() {
    return this.page.$eval("h1", (it) => it.textContent);
  }

  text() {
    return this.page.$eval("body", (it) => it.innerText);
  }

  async says(text) {
    const shown = await this.text();
    assert(shown.includes(text), `the page does not say "${text}": ${shown}`);
  }
}

// What people type into the site's search, and the page that has to come first (make docs).
// It asks the search that a browser runs: the site's own worker, with the site's own index.
"use strict";
const fs = require("fs");
const path = require("path");

const SITE = path.join(__dirname, "..", "site");
const QUERIES = path.join(__dirname, "..", "docs", "assets", "queries.txt");
const WORKERS = path.join(SITE, "assets", "javascripts", "workers");
const SETUP = 0;
const QUERY = 2;

const handlers = [];
let answered = () => {};
globalThis.self = globalThis;
globalThis.location = { href: "file:///" };
globalThis.importScripts = () => {};
globalThis.addEventListener = (kind, handler) => kind === "message" && handlers.push(handler);
globalThis.postMessage = (message) => answered(message);

const ask = (type, data) =>
  new Promise((resolve) => {
    answered = resolve;
    handlers.forEach((handler) => handler({ data: { type, data } }));
  });

(async () => {
  const worker = fs.readdirSync(WORKERS).find((name) => /^search.*\.js$/.test(name));
  (0, eval)(fs.readFileSync(path.join(WORKERS, worker), "utf8"));
  const index = JSON.parse(fs.readFileSync(path.join(SITE, "search", "search_index.json"), "utf8"));
  await ask(SETUP, { ...index, options: { suggest: false } });
  const wrong = [];
  const lines = fs.readFileSync(QUERIES, "utf8").trim().split("\n");
  for (const line of lines) {
    const [typed, pages] = line.split(" => ");
    const { data } = await ask(QUERY, typed);
    const first = data.items.length ? data.items[0][0].location.split("#")[0] : "no page";
    if (!pages.split(", ").includes(first)) wrong.push(`${typed}: ${first}, not ${pages}`);
  }
  console.log(`Search: ${lines.length - wrong.length} of ${lines.length} queries find their page first.`);
  if (wrong.length) {
    console.error(wrong.join("\n"));
    process.exit(1);
  }
})();

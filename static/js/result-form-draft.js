// What is typed, saved as you go: at once in this browser and, if it is a draft, within two seconds on the site. An
// older tab never writes over a newer one: the site refuses, and the page shows what differs. A correction stays in
// this browser until it is saved by hand.

const form = document.querySelector("[data-result-form]");
const { say, sayLink } = window.longForm;
const mergePlace = document.querySelector("[data-merge]");
const { script, zone } = form.dataset;
const NOT_SAID = /^(csrfmiddlewaretoken|typed_by|version|newest|page|against|keep-.*)$/;

takeOwnUuid();
const uuid = form.dataset.uuid;
const isCorrection = form.dataset.mode === "correct";
const copies = window.localCopies;
const key = isCorrection ? copies.keyOf("correction", form.dataset.result) : copies.keyOf("draft", uuid);
const pageId = crypto.getRandomValues(new Uint32Array(2)).join("-");
if (!isCorrection) form.elements.page.value = pageId;

let version = Number(form.elements.version.value);
let base = read(); // what the site has at `version`
const saver = window.longForm.saver({ send, isChanged: () => !same(read(), base) });
let isReady = false; // what was kept here before has been looked at
let isKeptHere = false;
let keeping = null; // the write to this browser's memory under way
let isChangedSince = false;

// The browser makes the UUID: whatever is lost on the way, the form and its result keep one name.
function takeOwnUuid() {
  const given = form.dataset.uuid;
  if (!("new" in form.dataset) || !crypto.randomUUID) return;
  const made = crypto.randomUUID();
  for (const name of ["uuid", "draft", "mergeAt"]) form.dataset[name] = form.dataset[name].replace(given, made);
  form.action = form.action.replace(given, made);
}

function address() {
  if (isCorrection) return new URL(form.action).pathname;
  return `${form.dataset.draft}?${new URLSearchParams({ script, script_version: read().script_version })}`;
}

// --- the fields as text, as the site keeps them ---------------------------------------------------

function read() {
  const fields = {};
  for (const field of form.elements) {
    if (!field.name || NOT_SAID.test(field.name) || !("value" in field) || field.tagName === "BUTTON") continue;
    if (["radio", "checkbox"].includes(field.type) && !field.checked) continue;
    if (field.value !== "") fields[field.name] = field.value;
  }
  return fields;
}

function fill(fields) {
  for (const field of form.elements) {
    if (!field.name || NOT_SAID.test(field.name) || field.tagName === "BUTTON") continue;
    const value = fields[field.name] ?? "";
    if (field.type === "radio") field.checked = field.value === value && value !== "";
    else if (field.type === "checkbox") field.checked = value !== "";
    else field.value = value;
  }
  form.dispatchEvent(new Event("emma:filled"));
}

const NAMES = (one, other) => [...new Set([...Object.keys(one), ...Object.keys(other)])];
const same = (one, other) => NAMES(one, other).every((name) => name === "page" || (one[name] ?? "") === (other[name] ?? ""));

// --- the copy in this browser ------------------------------------------------------------------------

// One write at a time; what changes meanwhile is written right after it.
function keepHere() {
  isChangedSince = true;
  isKeptHere = false;
  keeping ??= write().finally(() => { keeping = null; });
  return keeping;
}

async function write() {
  const title = document.querySelector("h1").textContent;
  while (isChangedSince) {
    isChangedSince = false;
    const fields = read();
    if (isCorrection && same(fields, base)) await copies.remove(key);
    else isKeptHere = await copies.keep(key, { version, base, fields, title, address: address() }).then(() => !isChangedSince, () => false);
  }
  if (isCorrection) sayCorrection();
}

function sayCorrection() {
  if (same(read(), base)) say("");
  else say(isKeptHere ? "Not saved yet: kept in this browser" : "Not saved yet, and this browser can't keep a copy", !isKeptHere);
}

// --- saying how it stands ------------------------------------------------------------------------------

const clock = (time) => new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone: zone }).format(new Date(time));

function sayNotSaved(why, link) {
  say(`Not saved: ${why}${isKeptHere ? " — kept in this browser" : ". This browser can't keep a copy either"}`, true);
  if (link) sayLink(link, "Sign in in another tab", "_blank");
}

// --- saving -----------------------------------------------------------------------------------------------

async function send() {
  const fields = read();
  say("Saving…");
  const found = await window.longForm.put(form.dataset.draft, { version, script, fields: { ...fields, page: pageId } });
  if (!found) {
    sayNotSaved(window.longForm.whyUnreached());
    saver.later();
  } else if (found.answer.ok) {
    saved(fields, found.body);
  } else {
    refused(found.answer, found.body);
  }
}

function saved(fields, { version: newVersion, saved_at: savedAt }) {
  version = newVersion;
  base = fields;
  saver.failures = 0;
  form.elements.version.value = version;
  keepHere();
  say(same(read(), base) ? `Saved ${clock(savedAt)}` : "Saving…");
}

function refused(answer, body) {
  if (body.error === "signed_out" || answer.type === "opaqueredirect") {
    sayNotSaved("signed out", body.sign_in ?? "/");
    saver.later();
  } else if (body.error === "stale_page") {
    askWhoIsSignedIn();
  } else if (answer.status === 429) {
    saver.waitAsTold(answer);
    sayNotSaved("saved very often in this minute, going on soon");
    saver.later();
  } else if (answer.status >= 500) {
    sayNotSaved("the site does not answer rightly, trying again");
    saver.later();
  } else if (body.error === "changed") {
    changedElsewhere(body);
  } else if (body.error === "filed") {
    saver.isStopped = true;
    say("Already filed.", true);
    sayLink(body.filed, "Open the result");
  } else {
    saver.failures = 1; // nothing to try again before something else is typed
    sayNotSaved((body.message ?? "the script is not open to you any more").replace(/\.$/, ""));
  }
}

// Without its cookies the site can't tell an old page from a sign-in that is over. It knows when asked for a page, and
// with that page comes a fresh token.
async function askWhoIsSignedIn() {
  sayNotSaved("trying again");
  saver.later();
  const answer = await fetch(form.dataset.askAt, { headers: { Accept: "application/json" }, redirect: "manual" }).catch(() => null);
  if (answer?.status !== 401) return;
  const { sign_in: signIn } = await answer.json().catch(() => ({}));
  sayNotSaved("signed out", signIn ?? "/");
}

// --- another tab ---------------------------------------------------------------------------------------------

async function changedElsewhere(there) {
  if (same(there.fields, base) || there.fields.page === pageId) {
    version = there.version; // our own save, whose answer was lost
    base = there.fields;
    delete base.page;
    form.elements.version.value = version;
    saver.soon();
    return;
  }
  saver.isStopped = true;
  sayNotSaved("another tab changed this draft, choose above");
  const data = new FormData(form);
  const answer = await fetch(form.dataset.mergeAt, { method: "POST", headers: { "X-Fragment": "1", "X-CSRFToken": window.csrfToken() }, body: data, redirect: "manual" }).catch(() => null);
  if (answer?.status === 409) {
    mergePlace.innerHTML = await answer.text();
    mergePlace.querySelector("[data-choices]").focus();
  } else {
    saver.isStopped = false;
    saver.later();
  }
}

// --- filing -----------------------------------------------------------------------------------------------------

const wait = (milliseconds) => new Promise((go) => { setTimeout(go, milliseconds); });
let isFiling = false;
form.addEventListener("submit", async (event) => {
  keepHere();
  form.elements.csrfmiddlewaretoken.value = window.csrfToken();
  const button = event.submitter;
  if (isCorrection) return saveCorrection(event);
  if (isFiling || button?.hasAttribute("formaction")) return;
  event.preventDefault();
  if (!navigator.onLine) {
    sayNotSaved("offline. File it when you are online again");
    return;
  }
  saver.hold();
  say("Filing…");
  await wait(0); // a form can't be submitted again from within its own submit event
  await Promise.race([saver.sending, wait(3000)]);
  saver.isStopped = true;
  isFiling = true;
  sessionStorage.setItem("emma-filing", key);
  form.elements.csrfmiddlewaretoken.value = window.csrfToken();
  form.requestSubmit(button);
});

function saveCorrection(event) {
  if (navigator.onLine) {
    sessionStorage.setItem("emma-filing", key);
  } else {
    event.preventDefault();
    keepHere().then(() => say("Not saved: offline. Save it when you are online again", true));
  }
}

// --- start -----------------------------------------------------------------------------------------------------------

async function start() {
  const copy = await copies.read(key);
  isReady = true;
  if ("unsaved" in form.dataset) base = (isCorrection && copy?.version === version && copy.base) || {};
  else if (!("merged" in form.dataset) && copy && !same(copy.fields, base) && !same(copy.fields, copy.base)) bringBack(copy);
  else if (same(read(), base)) return sayUntouched();
  typed();
}

// What was typed while the memory was being read goes over what was brought back from it.
function bringBack(copy) {
  const now = read();
  const fields = { ...copy.fields };
  for (const name of NAMES(now, base)) if ((now[name] ?? "") !== (base[name] ?? "")) fields[name] = now[name] ?? "";
  const wasChangedElsewhere = copy.version !== version && !same(copy.base, base);
  fill(fields);
  if (wasChangedElsewhere) ({ version, base } = copy); // so the site refuses it and shows what differs
  if (isCorrection) {
    form.elements.version.value = version;
    document.querySelector("[data-restored]").hidden = false;
  } else {
    say("What you typed here before was brought back.");
  }
}

function sayUntouched() {
  if ("merged" in form.dataset) keepHere();
  if (form.dataset.savedAt) say(`Saved ${clock(form.dataset.savedAt)}`);
}

function typed() {
  if (!isReady) return;
  keepHere();
  saver.failures = 0;
  if (!isCorrection) saver.soon();
}

function keepIfTyped() {
  if (isReady && !same(read(), base) && !isFiling) keepHere();
}

form.addEventListener("input", typed);
addEventListener("pagehide", keepIfTyped);
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
if (isCorrection) {
  document.querySelector("[data-as-filed]").addEventListener("click", async () => {
    isReady = false;
    await copies.remove(key);
    location.assign(form.action);
  });
} else {
  addEventListener("online", saver.save);
  addEventListener("offline", () => { if (!same(read(), base)) sayNotSaved("offline"); });
  addEventListener("focus", () => { if (saver.failures) saver.save(); });
  document.addEventListener("visibilitychange", () => { if (document.hidden && !same(read(), base)) saver.save(); });
  history.replaceState(null, "", address());
}

sessionStorage.removeItem("emma-filing");
start();

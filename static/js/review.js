// A review under the hand: one key says that the tester's tags are right, others change them; what is typed is kept
// on the site within two seconds, and the result stays in hand as long as somebody works on it.

const form = document.querySelector("[data-review]");
const { tagPicker } = window;
const part = (name) => document.querySelector(`[data-${name}]`);
const filed = form.dataset.filed ? form.dataset.filed.split(",") : [];
const SOON_MS = 700;
const LATEST_MS = 1700;
const PATIENCE_MS = 15_000;
const STILL_HERE_MS = 60_000;

// --- the tags, against the tester's -------------------------------------------------------------------

const judged = () => form.querySelector("[name=judged]:checked")?.value ?? "";
const judge = (value) => { form.querySelector(`[name=judged][value=${value}]`).checked = true; };
const isSame = (one, other) => one.join() === other.join();
let mine = null; // the reviewer's own list, while the tester's is shown again

// The same words as the site's own (compare_tags.py).
function compared(order) {
  const added = order.filter((tag) => !filed.includes(tag)).length;
  const out = filed.filter((tag) => !order.includes(tag)).length;
  const isMoved = !isSame(filed.filter((tag) => order.includes(tag)), order.filter((tag) => filed.includes(tag)));
  return [added && `${added} added`, out && `${out} taken out`, isMoved && "another order"].filter(Boolean).join(", ");
}

function settle() {
  const order = tagPicker.order();
  const words = compared(order);
  if (words && judged() !== "changed") judge("changed");
  const line = words ? `Against the tester’s: ${words}.` : "The same as the tester’s.";
  if (part("compared").textContent !== line) part("compared").textContent = line;
  form.classList.toggle("is-changed", Boolean(words));
}

function agree() {
  if (!isSame(tagPicker.order(), filed)) mine = tagPicker.order();
  judge("right");
  tagPicker.set(filed);
}

function change() {
  judge("changed");
  if (mine && isSame(tagPicker.order(), filed)) tagPicker.set(mine);
  mine = null;
  const first = part("picked").firstElementChild;
  first ? first.focus() : tagPicker.find();
}

form.addEventListener("change", ({ target }) => {
  if (target.name === "judged") target.value === "right" ? agree() : judge("changed");
});
form.addEventListener("input", ({ target }) => {
  if (target.name !== "judged") settle();
  saveSoon();
});

// --- saving as one goes ---------------------------------------------------------------------------------

let edition = Number(form.elements.edition.value);
let base = JSON.stringify(read());
let timer = 0;
let firstUnsavedAt = 0;
let sending = false;
let savedAt = performance.now();
let isStopped = false;
let failures = 0;
let freeAt = 0; // before this the site wants no save

function read() {
  const fields = {};
  for (const field of form.elements) {
    if (!/^(judged|no_problem|reason|place-.*)$/.test(field.name)) continue;
    if (/^(radio|checkbox)$/.test(field.type) && !field.checked) continue;
    if (field.value !== "") fields[field.name] = field.value;
  }
  return fields;
}

function say(words, isWrong = false) {
  const state = part("state");
  if (state.textContent !== words) state.textContent = words;
  state.classList.toggle("is-wrong", isWrong);
}

function saveSoon() {
  if (isStopped) return;
  const now = performance.now();
  firstUnsavedAt ||= now;
  clearTimeout(timer);
  timer = setTimeout(save, Math.max(0, Math.min(SOON_MS, firstUnsavedAt + LATEST_MS - now), freeAt - now));
}

async function save() {
  clearTimeout(timer);
  if (isStopped || sending) return;
  sending = true;
  firstUnsavedAt = 0;
  const fields = read();
  await put(fields);
  sending = false;
  if (!isStopped && !failures && JSON.stringify(read()) !== base) saveSoon();
}

async function put(fields) {
  let answer;
  try {
    answer = await fetch(form.dataset.saveAt, {
      method: "PUT",
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": form.elements.csrfmiddlewaretoken.value },
      body: JSON.stringify({ edition, result_version: Number(form.elements.version.value), typed_by: document.body.dataset.user, fields }),
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    tryAgain(navigator.onLine ? "the site does not answer" : "offline");
    return;
  }
  const body = await answer.json().catch(() => ({}));
  answer.ok ? saved(fields, body) : refused(answer, body);
}

function saved(fields, { edition: newEdition, until, message, version }) {
  failures = 0;
  edition = newEdition;
  form.elements.edition.value = edition;
  base = JSON.stringify(fields);
  savedAt = performance.now();
  say(until ? `Saved, yours until ${until}` : "Saved");
  close(message);
  part("corrected").hidden = version === Number(form.elements.version.value);
}

// What stands against filing may pass: somebody else puts the result back, say.
function close(message) {
  const words = message ? `${message} What you typed is kept here, and you can go on reading.` : "";
  if (part("closed").textContent !== words) part("closed").textContent = words;
  part("closed").hidden = !message;
  part("file").disabled = part("stop").disabled = Boolean(message);
}

function refused(answer, body) {
  if (answer.status === 429) {
    freeAt = performance.now() + 1000 * (Number(answer.headers.get("Retry-After")) || 1);
    tryAgain("saved very often in this minute");
  } else if (answer.status >= 500) {
    tryAgain("the site does not answer rightly");
  } else if (body.error === "signed_out" || answer.type === "opaqueredirect") {
    say("Not saved: signed out", true);
    addLink(body.sign_in ?? "/", "Sign in in another tab", "_blank");
    tryLater();
  } else if (body.error === "filed") {
    isStopped = true;
    say("Already filed.", true);
    addLink(body.filed, "Open the result");
  } else {
    isStopped = true;
    say(`Not saved: ${body.message ?? "this page is out of date, open it anew"}`, true);
  }
}

function addLink(address, words, target = "") {
  const link = document.createElement("a");
  Object.assign(link, { href: address, textContent: words, target, rel: "noopener" });
  part("state").append(" ", link);
}

function tryAgain(why) {
  say(`Not saved: ${why}, trying again`, true);
  tryLater();
}

function tryLater() {
  failures += 1;
  clearTimeout(timer);
  timer = setTimeout(save, Math.max(Math.min(STILL_HERE_MS, 1000 * 2 ** failures), freeAt - performance.now()));
}

// Reading, and listening to the recording, is work, too: whoever moves on the page keeps the result.
for (const kind of ["keydown", "pointermove", "scroll"]) {
  document.addEventListener(kind, () => {
    if (performance.now() - savedAt > STILL_HERE_MS && !sending && !isStopped) save();
  }, { passive: true });
}

// --- keys ---------------------------------------------------------------------------------------------------

const KEYS_OFF = "emma-keys-off";
const dialog = part("keys");
const keysOn = part("keys-on");
keysOn.checked = localStorage.getItem(KEYS_OFF) === null;
keysOn.addEventListener("change", () => {
  keysOn.checked ? localStorage.removeItem(KEYS_OFF) : localStorage.setItem(KEYS_OFF, "1");
});
const showKeys = () => dialog.showModal();
part("show-keys").addEventListener("click", showKeys);

const isTyping = (target) => target.closest("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])");

// Up and down walk the list of picked tags; anywhere else they scroll, as ever.
function walk(by) {
  const item = document.activeElement.closest("[data-item]");
  const next = by > 0 ? item?.nextElementSibling : item?.previousElementSibling;
  next?.focus();
  return Boolean(item);
}

const ACTS = {
  a: () => { agree(); settle(); saveSoon(); return true; },
  e: () => { change(); saveSoon(); return true; },
  t: () => { tagPicker.find(); return true; },
  "/": () => { tagPicker.find(); return true; },
  r: () => { part("reason").focus(); return true; },
  o: () => { part("recording")?.click(); return true; },
  l: () => { form.requestSubmit(part("leave")); return true; },
  "?": () => { showKeys(); return true; },
  ArrowDown: () => walk(1),
  ArrowUp: () => walk(-1),
};

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || dialog.open) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    const other = event.target.closest("form:not([data-review])"); // a comment is sent, and no review with it
    if (other) other.requestSubmit();
    else if (!part("file").disabled) form.requestSubmit(part("file"));
    return;
  }
  if (event.ctrlKey || event.metaKey) return;
  if (event.altKey) { if (tagPicker.moveByKey(event)) event.preventDefault(); return; }
  const field = isTyping(event.target);
  if (event.key === "Enter" && field?.matches("input")) event.preventDefault(); // Enter in a field files nothing
  if (event.key === "Escape" && field) { field.blur(); return; }
  if (field || !keysOn.checked) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (tagPicker.removeByKey(event) || ACTS[key]?.()) event.preventDefault();
});

// --- start --------------------------------------------------------------------------------------------------

form.addEventListener("submit", () => { isStopped = true; clearTimeout(timer); });
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
settle();
base = JSON.stringify(read());
part("error-summary")?.focus();

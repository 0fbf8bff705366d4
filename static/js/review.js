// A review under the hand: one key says that the tester's tags are right, others change them; what is typed is kept
// on the site within two seconds, and the result stays in hand as long as somebody works on it.

const form = document.querySelector("[data-review]");
const { tagPicker } = window;
const { say, sayLink } = window.longForm;
const part = (name) => document.querySelector(`[data-${name}]`);
const filed = form.dataset.filed ? form.dataset.filed.split(",") : [];
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
let savedAt = performance.now();
// What is unchanged is saved, too: that keeps the result in hand.
const saver = window.longForm.saver({ send, isChanged: () => JSON.stringify(read()) !== base, isDue: () => true });
const saveSoon = saver.soon;

function read() {
  const fields = {};
  for (const field of form.elements) {
    if (!/^(judged|no_problem|reason|place-.*)$/.test(field.name)) continue;
    if (/^(radio|checkbox)$/.test(field.type) && !field.checked) continue;
    if (field.value !== "") fields[field.name] = field.value;
  }
  return fields;
}

async function send() {
  const fields = read();
  const said = { edition, result_version: Number(form.elements.version.value), fields };
  const found = await window.longForm.put(form.dataset.saveAt, said);
  if (!found) tryAgain(window.longForm.whyUnreached());
  else if (found.answer.ok) saved(fields, found.body);
  else refused(found.answer, found.body);
}

function saved(fields, { edition: newEdition, until, message, version }) {
  saver.failures = 0;
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
    saver.waitAsTold(answer);
    tryAgain("saved very often in this minute");
  } else if (answer.status >= 500) {
    tryAgain("the site does not answer rightly");
  } else if (body.error === "signed_out" || answer.type === "opaqueredirect") {
    say("Not saved: signed out", true);
    sayLink(body.sign_in ?? "/", "Sign in in another tab", "_blank");
    saver.later();
  } else if (body.error === "filed") {
    saver.stop();
    say("Already filed.", true);
    sayLink(body.filed, "Open the result");
  } else {
    saver.stop();
    say(`Not saved: ${body.message ?? "this page is out of date, open it anew"}`, true);
  }
}

function tryAgain(why) {
  say(`Not saved: ${why}, trying again`, true);
  saver.later();
}

// Reading, and listening to the recording, is work, too: whoever moves on the page keeps the result.
for (const kind of ["keydown", "pointermove", "scroll"]) {
  document.addEventListener(kind, () => {
    if (performance.now() - savedAt > STILL_HERE_MS) saver.save();
  }, { passive: true });
}

// --- keys ---------------------------------------------------------------------------------------------------

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
  r: () => { part("reason").focus(); return true; },
  o: () => { part("recording")?.click(); return true; },
  x: () => { form.requestSubmit(part("leave")); return true; },
  ArrowDown: () => walk(1),
  ArrowUp: () => walk(-1),
};

window.longForm.onKeys({
  file(target) {
    const other = target.closest("form:not([data-review])"); // a comment is sent, and no review with it
    if (other) other.requestSubmit();
    else if (!part("file").disabled) form.requestSubmit(part("file"));
  },
  act: (key) => ACTS[key]?.(),
});

// Esc leaves a field, so that the next key is one of these.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing || part("keys").open) return;
  window.longForm.typedIn(event.target)?.blur();
});

// --- start --------------------------------------------------------------------------------------------------

form.addEventListener("submit", saver.stop);
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
settle();
base = JSON.stringify(read());
part("error-summary")?.focus();

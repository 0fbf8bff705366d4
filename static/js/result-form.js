// The results form under the hand: ratings by key, the camera and the call that never started.
// Problems are picked by tag-picker.js.
// Every field keeps its ordinary input; this script only sets those, so that drafts and filing read one truth.

const form = document.querySelector("[data-result-form]");
const { tagPicker } = window;
const { labelOf } = tagPicker;
const part = (name) => document.querySelector(`[data-${name}]`);
const parts = (name) => [...document.querySelectorAll(`[data-${name}]`)];
const speak = (words) => { part("says").textContent = words; };
const changed = () => form.dispatchEvent(new Event("input", { bubbles: true }));
const checked = (name) => form.querySelector(`input[name="${name}"]:checked`)?.value ?? "";
const choose = (name, value) => {
  const input = form.querySelector(`input[name="${name}"][value="${value}"]`);
  if (input) input.checked = true;
  return input;
};

// --- the camera, and the call that never started ------------------------------------------------------

const neverStarted = part("never-started");
const vision = document.querySelector('[data-dimension="vision"]');

let wasStartAdded = false;

function sayNoCall() {
  const given = parts("dimension").filter((row) => ["1", "2", "3", "4", "5"].includes(checked(row.dataset.dimension))).length;
  const ratings = given === 1 ? "The rating you gave is put aside and is not filed. " : given ? `The ${given} ratings you gave are put aside and are not filed. ` : "Nothing is rated. ";
  const words = `The call never started. ${ratings}“${labelOf("stuck_start")}” is among the problems.${given ? " Take the tick out to have the ratings back." : ""}`;
  const line = neverStarted.checked ? words : "";
  if (part("no-call").textContent !== line) part("no-call").textContent = line;
}

function settle() {
  sayNoCall();
  const isOff = checked("vision") === "na" || checked("vision") === "";
  vision.classList.toggle("is-off", isOff && checked("camera_used") !== "yes");
  const note = part("camera-note");
  if (note) note.hidden = checked("camera_used") !== "no" && !note.classList.contains("wrong");
  form.classList.toggle("has-no-call", neverStarted.checked);
  for (const input of form.querySelectorAll("[data-dimension] input")) input.disabled = neverStarted.checked;
  const left = part("comment").dataset.most - part("comment").value.length;
  const line = part("comment-left");
  line.hidden = left > 1000;
  line.textContent = left >= 0 ? `${left.toLocaleString("en")} characters left` : `${(-left).toLocaleString("en")} characters too many`;
}

form.addEventListener("change", (event) => {
  const { name, value } = event.target;
  if (name === "vision") choose("camera_used", value === "na" ? "no" : "yes");
  if (name === "camera_used" && value === "no") choose("vision", "na");
  if (name === "camera_used" && value === "yes" && checked("vision") === "na") choose("vision", "na").checked = false;
  if (event.target === neverStarted) noteNoCall();
  settle();
});
form.addEventListener("input", settle);

// The tag comes with the tick, and goes with it.
function noteNoCall() {
  const picked = tagPicker.order();
  const isThere = picked.includes("stuck_start");
  if (neverStarted.checked && !isThere) tagPicker.set(["stuck_start", ...picked]);
  if (!neverStarted.checked && isThere && wasStartAdded) tagPicker.set(picked.filter((tag) => tag !== "stuck_start"));
  wasStartAdded = neverStarted.checked && !isThere;
  sayNoCall();
  speak(part("no-call").textContent || "The ratings are back.");
}

// --- keys ---------------------------------------------------------------------------------------------

const rows = parts("dimension");

function rowInHand() {
  const focused = document.activeElement;
  const row = focused.closest("[data-dimension]");
  if (row) return row;
  if (focused !== document.body && focused.id !== "main" && focused.id !== "the-ratings") return null;
  return rows.find((each) => !checked(each.dataset.dimension)) ?? rows[0];
}

function enter(row) {
  const input = row.querySelector("input:checked") ?? row.querySelector("input");
  input.focus();
  row.scrollIntoView({ block: "nearest" });
}

function goOn(row) {
  const next = rows.slice(rows.indexOf(row) + 1).find((each) => each !== vision || checked("vision") !== "na");
  next ? enter(next) : document.getElementById("problems").focus();
}

function rate(row, value) {
  const input = choose(row.dataset.dimension, value);
  input.dispatchEvent(new Event("change", { bubbles: true }));
  changed();
  speak(`${row.dataset.name}: ${value === "na" ? "N/A, the camera was not used" : value}`);
}

function step(by) {
  const row = document.activeElement.closest("[data-dimension]");
  const next = row && rows[rows.indexOf(row) + by];
  if (next) enter(next);
  return Boolean(row);
}

function answer(question, key) {
  const value = { y: "yes", n: "no" }[key];
  const input = value && choose(question.dataset.yesNo, value);
  if (!input) return false;
  input.focus();
  input.dispatchEvent(new Event("change", { bubbles: true }));
  changed();
  return true;
}

const ACTS = {
  n: () => { rate(vision, "na"); if (document.activeElement.closest('[data-dimension="vision"]')) goOn(vision); return true; },
  ArrowDown: () => step(1),
  ArrowUp: () => step(-1),
  c: () => { part("comment").focus(); return true; },
};

function act(key, { target }) {
  const question = target.closest("[data-yes-no]");
  if (question && answer(question, key)) return true;
  if (/^[1-5]$/.test(key)) {
    const row = rowInHand();
    if (!row || neverStarted.checked) return false;
    rate(row, key);
    goOn(row);
    return true;
  }
  return (question && key.startsWith("Arrow")) ? false : (ACTS[key]?.() ?? false);
}

window.longForm.onKeys({ file: () => form.requestSubmit(part("file")), act });

// --- start ----------------------------------------------------------------------------------------------

function show() {
  tagPicker.show();
  settle();
}

form.addEventListener("emma:filled", show);
show();
part("error-summary")?.focus();

// The results form under the hand: ratings by key, problems in order, the camera and the call that never started.
// Every field keeps its ordinary input; this script only sets those, so that drafts and filing read one truth.

const form = document.querySelector("[data-result-form]");
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

// --- problems: one order over all groups ---------------------------------------------------------

const places = new Map(parts("place").map((input) => [input.dataset.place, input]));
const labelOf = (tag) => document.querySelector(`[data-tag-row="${tag}"] label`).textContent.trim();
const areaOf = (tag) => document.querySelector(`[data-tag-row="${tag}"]`).closest("[data-group]").dataset.group;
const list = part("picked");
let picked = [];

const readPlaces = () => [...places]
  .filter(([, input]) => input.value !== "")
  .sort(([, one], [, other]) => Number(one.value) - Number(other.value))
  .map(([tag]) => tag);

function keepOrder(order) {
  picked = order;
  for (const [tag, input] of places) input.value = picked.includes(tag) ? picked.indexOf(tag) + 1 : "";
  drawPicked();
  changed();
}

function drawPicked() {
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  const held = focused && { tag: focused.closest("li").dataset.item, what: focused.dataset.move ?? (focused.matches("[data-remove]") ? "remove" : "item") };
  list.replaceChildren(...picked.map(itemOf));
  for (const chip of parts("tag")) {
    const place = picked.indexOf(chip.dataset.tag);
    chip.setAttribute("aria-pressed", String(place >= 0));
    chip.querySelector(".chip-place").textContent = place >= 0 ? place + 1 : "";
  }
  part("to-order").textContent = `Order (${picked.length})`;
  part("to-order").hidden = picked.length === 0;
  part("needs-words").hidden = !picked.some((tag) => tag.startsWith("other_"));
  if (held) focusItem(held.tag, held.what);
}

function itemOf(tag, place) {
  const item = part("picked-item").content.firstElementChild.cloneNode(true);
  const label = labelOf(tag);
  item.dataset.item = tag;
  item.querySelector(".picked-place").textContent = place + 1;
  item.querySelector(".picked-label").textContent = label;
  item.querySelector(".picked-area").textContent = place === 0 ? `biggest · ${areaOf(tag)}` : areaOf(tag);
  const [up, down, remove] = item.querySelectorAll("button");
  up.setAttribute("aria-label", `Move up: ${label}`);
  down.setAttribute("aria-label", `Move down: ${label}`);
  remove.setAttribute("aria-label", `Remove: ${label}`);
  up.disabled = place === 0;
  down.disabled = place === picked.length - 1;
  return item;
}

function focusItem(tag, what) {
  const item = list.querySelector(`[data-item="${tag}"]`);
  if (!item) return;
  const button = what === "remove" ? item.querySelector("[data-remove]") : item.querySelector(`[data-move="${what}"]`);
  (button && !button.disabled ? button : item).focus();
}

function toggle(tag) {
  if (picked.includes(tag)) return remove(tag);
  keepOrder([...picked, tag]);
  speak(`${labelOf(tag)}: now ${picked.length} of ${picked.length}`);
}

function remove(tag) {
  const place = picked.indexOf(tag);
  const wasFocused = list.contains(document.activeElement);
  keepOrder(picked.filter((each) => each !== tag));
  speak(`${labelOf(tag)}: taken out, ${picked.length} left`);
  if (wasFocused) picked.length ? focusItem(picked[Math.min(place, picked.length - 1)], "item") : document.getElementById("problems").focus();
}

function move(tag, by) {
  const from = picked.indexOf(tag);
  const to = from + by;
  if (from < 0 || to < 0 || to >= picked.length) return;
  const order = picked.toSpliced(from, 1).toSpliced(to, 0, tag);
  keepOrder(order);
  speak(`${labelOf(tag)}: now ${to + 1} of ${order.length}`);
}

document.addEventListener("click", (event) => {
  const chip = event.target.closest("[data-tag]");
  if (chip) toggle(chip.dataset.tag);
  const button = event.target.closest("[data-picked] button");
  if (!button) return;
  const tag = button.closest("li").dataset.item;
  button.dataset.move ? move(tag, Number(button.dataset.move)) : remove(tag);
});

if (window.Sortable) {
  new window.Sortable(list, {
    handle: ".handle",
    forceFallback: true, // the same under mouse and finger
    animation: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 120,
    onEnd: ({ item }) => {
      const order = [...list.children].map((each) => each.dataset.item);
      keepOrder(order);
      speak(`${labelOf(item.dataset.item)}: now ${order.indexOf(item.dataset.item) + 1} of ${order.length}`);
    },
  });
}

// --- finding a problem ------------------------------------------------------------------------------

const search = part("tag-search");
const fold = (text) => text.toLowerCase().normalize("NFKD");

function findTags() {
  const words = fold(search.value).split(/\s+/).filter(Boolean);
  let first = null;
  for (const row of parts("tag-row")) {
    const chip = row.querySelector("[data-tag]");
    const isFound = words.every((word) => fold(chip.textContent).includes(word));
    row.hidden = !isFound;
    if (isFound && words.length && !first) first = chip;
    chip.classList.toggle("is-found", chip === first);
  }
  for (const group of parts("group")) group.hidden = !group.querySelector("[data-tag-row]:not([hidden])");
  const found = parts("tag-row").filter((row) => !row.hidden).length;
  part("search-hint").textContent = !words.length
    ? "Type a few letters; Enter picks the first one found."
    : first ? `${found} found. Enter picks “${labelOf(first.dataset.tag)}”.` : "Nothing found. Esc shows them all again.";
  return first;
}

search.addEventListener("input", (event) => { event.stopPropagation(); findTags(); });
search.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    const first = findTags();
    if (first) { toggle(first.dataset.tag); search.value = ""; findTags(); }
  } else if (event.key === "Escape") {
    event.preventDefault();
    search.value = "";
    findTags();
    picked.length ? focusItem(picked.at(-1), "item") : document.getElementById("problems").focus();
  }
});

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
  const isThere = picked.includes("stuck_start");
  if (neverStarted.checked && !isThere) keepOrder(["stuck_start", ...picked]);
  if (!neverStarted.checked && isThere && wasStartAdded) keepOrder(picked.filter((tag) => tag !== "stuck_start"));
  wasStartAdded = neverStarted.checked && !isThere;
  sayNoCall();
  speak(part("no-call").textContent || "The ratings are back.");
}

// --- keys ---------------------------------------------------------------------------------------------

const KEYS_OFF = "emma-keys-off";
const dialog = part("keys");
const keysOn = part("keys-on");
keysOn.checked = localStorage.getItem(KEYS_OFF) === null;
keysOn.addEventListener("change", () => {
  keysOn.checked ? localStorage.removeItem(KEYS_OFF) : localStorage.setItem(KEYS_OFF, "1");
});
const showKeys = () => dialog.showModal();
part("show-keys").addEventListener("click", showKeys);

const rows = parts("dimension");
const isTyping = (target) => target.closest("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])");

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
  "?": () => { showKeys(); return true; },
  "/": () => { search.focus(); return true; },
  t: () => { search.focus(); return true; },
  c: () => { part("comment").focus(); return true; },
};

function moveByKey(event) {
  const tag = event.target.closest("[data-item]")?.dataset.item ?? event.target.closest("[data-tag]")?.dataset.tag;
  if (!tag || !["ArrowUp", "ArrowDown"].includes(event.key)) return false;
  move(tag, event.key === "ArrowUp" ? -1 : 1);
  return true;
}

function byLetter(event) {
  const question = event.target.closest("[data-yes-no]");
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (question && answer(question, key)) return true;
  if (["Delete", "Backspace"].includes(key) && event.target.closest("[data-item]")) {
    remove(event.target.closest("[data-item]").dataset.item);
    return true;
  }
  if (/^[1-5]$/.test(key)) {
    const row = rowInHand();
    if (!row || neverStarted.checked) return false;
    rate(row, key);
    goOn(row);
    return true;
  }
  return (question && key.startsWith("Arrow")) ? false : (ACTS[key]?.() ?? false);
}

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || dialog.open) return;
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    form.requestSubmit(part("file"));
    return;
  }
  if (event.ctrlKey || event.metaKey) return;
  if (event.altKey) { if (moveByKey(event)) event.preventDefault(); return; }
  const field = isTyping(event.target);
  if (event.key === "Enter" && field?.matches("input")) event.preventDefault(); // Enter in a field files nothing
  if (!field && keysOn.checked && byLetter(event)) event.preventDefault();
});

// --- start ----------------------------------------------------------------------------------------------

function show() {
  picked = readPlaces();
  drawPicked();
  settle();
}

form.addEventListener("emma:filled", show);
show();
part("error-summary")?.focus();

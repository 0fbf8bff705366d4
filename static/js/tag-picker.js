// Picking problems in order: chips to press, a search, and one list to move them in by button, key or hand. Every tag
// keeps its ordinary input with its place; this script only sets those, so that whoever reads the form reads one truth.
//
// The page asks `window.tagPicker` for the order and sets it; the form it stands in hears "input" after each change.

const part = (name) => document.querySelector(`[data-${name}]`);
const parts = (name) => [...document.querySelectorAll(`[data-${name}]`)];
const speak = (words) => { part("says").textContent = words; };

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
  list.closest("form").dispatchEvent(new Event("input", { bubbles: true }));
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
  const toOrder = part("to-order");
  if (toOrder) {
    toOrder.textContent = `Order (${picked.length})`;
    toOrder.hidden = picked.length === 0;
  }
  part("needs-words").hidden = !picked.some((tag) => tag.startsWith("other_"));
  drawNoProblem();
  if (held) focusItem(held.tag, held.what);
}

// That a list ends empty is said, not only left so; with a problem in it there is nothing to say.
function drawNoProblem() {
  const row = part("no-problem");
  if (!row) return;
  row.hidden = picked.length > 0;
  if (row.hidden) row.querySelector("input").checked = false;
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
  if (chip && search.value) {
    showAll();
    chip.scrollIntoView({ block: "nearest" });
  }
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
    : first ? `${found} found. ${enterDoes(first.dataset.tag)}` : "Nothing found. Esc shows them all again.";
  return first;
}

const isThere = (tag) => `“${labelOf(tag)}” is already picked, place ${picked.indexOf(tag) + 1}`;
const enterDoes = (tag) => picked.includes(tag) ? `${isThere(tag)}: Enter leads there.` : `Enter picks “${labelOf(tag)}”.`;

function showAll() {
  search.value = "";
  findTags();
}

// Enter picks, and never takes out: what is picked already is shown in its place.
function pickFound(tag) {
  const wasPicked = picked.includes(tag);
  if (!wasPicked) toggle(tag);
  showAll();
  if (!wasPicked) return;
  part("search-hint").textContent = `${isThere(tag)}.`;
  speak(`${isThere(tag)}.`);
  focusItem(tag, "item");
}

search.addEventListener("input", (event) => { event.stopPropagation(); findTags(); });
// On a phone what is found stands under the field, above the bar at the foot of the page.
search.addEventListener("focus", () => {
  if (matchMedia("(max-width: 40rem)").matches) search.closest("[data-search]").scrollIntoView({ block: "start" });
});
search.addEventListener("keydown", (event) => {
  if (event.isComposing) return;
  if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    const first = findTags();
    if (first) pickFound(first.dataset.tag);
  } else if (event.key === "Escape") {
    event.preventDefault();
    showAll();
    picked.length ? focusItem(picked.at(-1), "item") : document.getElementById("problems").focus();
  }
});

// --- keys ---------------------------------------------------------------------------------------------

function moveByKey(event) {
  const tag = event.target.closest("[data-item]")?.dataset.item ?? event.target.closest("[data-tag]")?.dataset.tag;
  if (!tag || !["ArrowUp", "ArrowDown"].includes(event.key)) return false;
  move(tag, event.key === "ArrowUp" ? -1 : 1);
  return true;
}

function removeByKey(event) {
  const item = event.target.closest("[data-item]");
  if (!item || !["Delete", "Backspace"].includes(event.key)) return false;
  remove(item.dataset.item);
  return true;
}

window.tagPicker = {
  order: () => picked,
  set: keepOrder,
  show: () => { picked = readPlaces(); drawPicked(); },
  find: () => search.focus(),
  labelOf,
  moveByKey,
  removeByKey,
};
window.tagPicker.show();

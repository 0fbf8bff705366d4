// What the long forms share: single keys that can be switched off, and what is typed, saved as one goes.
//
// A form's own script asks `window.longForm` for both, and says what its keys do and what a save sends.

const { tagPicker } = window;
const part = (name) => document.querySelector(`[data-${name}]`);

// --- keys ---------------------------------------------------------------------------------------------

const KEYS_OFF = "emma-keys-off";
const typedIn = (target) => target.closest("textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])");

// The list of keys, with its switch. Gives whether single keys are on, and whether the list hides the page.
function keyList() {
  const dialog = part("keys");
  const keysOn = part("keys-on");
  keysOn.checked = localStorage.getItem(KEYS_OFF) === null;
  keysOn.addEventListener("change", () => {
    keysOn.checked ? localStorage.removeItem(KEYS_OFF) : localStorage.setItem(KEYS_OFF, "1");
  });
  const show = () => { dialog.showModal(); return true; };
  part("show-keys").addEventListener("click", show);
  return { show, isOn: () => keysOn.checked, isOpen: () => dialog.open };
}

// `file` is told where Ctrl+Enter was pressed; `act` is told the key and its event, and says whether it did anything.
function onKeys({ file, act }) {
  const list = keyList();
  const find = () => { tagPicker.find(); return true; };
  const shared = { "?": list.show, "/": find, t: find };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.isComposing || list.isOpen()) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      file(event.target);
      return;
    }
    if (event.ctrlKey || event.metaKey) return;
    if (event.altKey) { if (tagPicker.moveByKey(event)) event.preventDefault(); return; }
    const field = typedIn(event.target);
    if (event.key === "Enter" && field?.matches("input")) event.preventDefault(); // Enter in a field files nothing
    if (field || !list.isOn()) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (tagPicker.removeByKey(event) || shared[key]?.() || act(key, event)) event.preventDefault();
  });
}

// --- saving as one goes -------------------------------------------------------------------------------

const SOON_MS = 700;
const LATEST_MS = 1700;
const PATIENCE_MS = 15_000;
const LONGEST_WAIT_MS = 60_000;

// One save at a time, soon after what was typed; after a failure again and again, at longer and longer intervals.
// `send` makes a save, `isDue` says whether there is anything to save, `isChanged` whether that is so since the last one.
function saver({ send, isChanged, isDue = isChanged }) {
  let timer = 0;
  let firstUnsavedAt = 0;
  let freeAt = 0; // before this the site wants no save
  let sending = null; // the promise of the save under way

  const it = {
    failures: 0,
    isStopped: false,
    get sending() { return sending; },
    soon() {
      if (it.isStopped) return;
      const now = performance.now();
      firstUnsavedAt ||= now;
      it.hold();
      timer = setTimeout(it.save, Math.max(0, Math.min(SOON_MS, firstUnsavedAt + LATEST_MS - now), freeAt - now));
    },
    later() {
      it.failures += 1;
      it.hold();
      timer = setTimeout(it.save, Math.max(Math.min(LONGEST_WAIT_MS, 1000 * 2 ** it.failures), freeAt - performance.now()));
    },
    async save() {
      it.hold();
      if (it.isStopped || sending) return sending;
      if (!isDue()) return null;
      firstUnsavedAt = 0;
      sending = send();
      await sending;
      sending = null;
      if (!it.failures && !it.isStopped && isChanged()) it.soon();
      return null;
    },
    // Nothing is sent before it is asked for again.
    hold() { clearTimeout(timer); },
    stop() { it.isStopped = true; it.hold(); },
    // The site has had enough for a while, and says for how long.
    waitAsTold(answer) { freeAt = performance.now() + 1000 * (Number(answer.headers.get("Retry-After")) || 1); },
  };
  return it;
}

// The answer with what it says; nothing where the site can't be reached in good time.
async function put(address, said) {
  try {
    const answer = await fetch(address, {
      method: "PUT",
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": window.csrfToken() },
      body: JSON.stringify({ typed_by: document.body.dataset.user, ...said }),
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    return { answer, body: await answer.json().catch(() => ({})) };
  } catch {
    return null;
  }
}

const whyUnreached = () => (navigator.onLine ? "the site does not answer" : "offline");

// How it stands, in the bar at the foot of the page.
function say(words, isWrong = false) {
  const state = part("state");
  if (state.textContent !== words) state.textContent = words;
  state.classList.toggle("is-wrong", isWrong);
}

function sayLink(address, words, target = "") {
  const link = document.createElement("a");
  Object.assign(link, { href: address, textContent: words, target, rel: "noopener" });
  part("state").append(" ", link);
}

window.longForm = { typedIn, onKeys, saver, put, whyUnreached, say, sayLink };

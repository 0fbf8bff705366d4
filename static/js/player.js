// The player of a recording: a timeline with both sides, moments, notes and what was measured; keys; and links that are
// renewed whenever they are over, so that it goes on after an hour's pause where it stood.

const root = document.querySelector("[data-player]");
const part = (name, within = root) => within.querySelector(`[data-${name}]`);
const media = part("media");
const slider = part("slider");
const { dataset } = root;
const lastsMs = Number(dataset.lastsMs);
const holdsMs = Number(dataset.holdsS) * 1000;
const MARGIN_MS = Math.min(60_000, holdsMs / 5);
const PATIENCE_MS = 15_000;
const MENDED_LATELY_MS = 3000;
const RENEWED_AGAIN_MS = 30_000;
const SVG = "http://www.w3.org/2000/svg";

const clamp = (ms) => Math.min(Math.max(0, ms), lastsMs);
const two = (number) => String(number).padStart(2, "0");
const clock = (ms) => {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
  return hours ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
};
const fineClock = (ms) => `${clock(ms)}.${String(Math.floor(ms) % 1000).padStart(3, "0")}`;
const inWords = (ms) => {
  const seconds = Math.floor(ms / 1000);
  const counts = [[Math.floor(seconds / 3600), "hour"], [Math.floor(seconds / 60) % 60, "minute"], [seconds % 60, "second"]];
  return counts.filter(([count], place) => count || place === 2).map(([count, unit]) => `${count} ${unit}${count === 1 ? "" : "s"}`).join(" ");
};
const setText = (element, words) => { if (element.textContent !== words) element.textContent = words; };
const say = (words) => setText(part("player-says"), words);

// --- the links by which it is played ----------------------------------------------------------------------

let heldUntil = Date.now() + holdsMs - MARGIN_MS;
let position = 0; // in milliseconds: where it is, or is on its way to
let isOn = false; // whether it is meant to play
let isSwapping = false;
let mendedAt = -MENDED_LATELY_MS;
let asking = null; // the promise of links that were asked for
let readying = null;
let spare = null; // links at hand before the present ones are over
let renewAt = 0;

class RefusedError extends Error {}

async function ask() {
  let answer;
  try {
    answer = await fetch(dataset.linksAt, {
      method: "POST",
      headers: { Accept: "application/json", "X-CSRFToken": window.csrfToken() },
      redirect: "manual",
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    throw new RefusedError(navigator.onLine ? "The site does not answer. Press play to try again." : "You are offline. Press play to try again.");
  }
  if (answer.status === 401 || answer.status === 403 || answer.type === "opaqueredirect") throw new RefusedError("You are signed out. Sign in in another tab, then press play.");
  if (answer.status === 404) throw new RefusedError("This recording can’t be played any more.");
  if (!answer.ok) throw new RefusedError("The site has no links to this recording just now. Press play to try again.");
  const links = await answer.json();
  return { ...links, heldUntil: Date.now() + links.expires_in_s * 1000 - Math.min(60_000, links.expires_in_s * 200) };
}

const links = () => { asking ??= ask().finally(() => { asking = null; }); return asking; };

const heard = (name) => new Promise((go, fail) => {
  const done = (end) => (event) => { media.removeEventListener(name, yes); media.removeEventListener("error", no); end(event); };
  const yes = done(go);
  const no = done(() => fail(new RefusedError("The recording can’t be reached just now. Press play to try again.")));
  media.addEventListener(name, yes);
  media.addEventListener("error", no);
});

// The same place, speed and intention on another link.
async function swap() {
  const fresh = spare && spare.heldUntil > Date.now() ? spare : await links();
  spare = null;
  isSwapping = true;
  try {
    const loaded = heard("loadedmetadata");
    const speed = media.playbackRate;
    media.defaultPlaybackRate = speed;
    media.src = fresh.media;
    media.load();
    await loaded;
    media.playbackRate = speed;
    media.currentTime = position / 1000;
    heldUntil = fresh.heldUntil;
    renewLater();
  } finally {
    isSwapping = false;
  }
}

const isOver = () => media.error !== null || Date.now() >= heldUntil;
const ready = () => {
  if (!isOver()) return null;
  readying ??= swap().finally(() => { readying = null; });
  return readying;
};

// Only while it plays: a page that is left open asks for nothing.
function renewLater() {
  clearTimeout(renewAt);
  if (isOn) renewAt = setTimeout(renew, Math.max(0, heldUntil - Date.now()));
}

async function renew() {
  if (!isOn) return;
  try { spare = await links(); } catch { spare = null; } // asked for again, soon and when it is needed
  renewAt = setTimeout(renew, spare ? spare.heldUntil - Date.now() : RENEWED_AGAIN_MS);
}

// A link that was refused in the middle is renewed once; what fails again at once is told.
media.addEventListener("error", () => {
  if (isSwapping) return;
  if (performance.now() - mendedAt < MENDED_LATELY_MS) { stopped("The recording can’t be reached just now. Press play to try again."); return; }
  mendedAt = performance.now();
  isOn ? play() : seek(position);
});

// --- playing ------------------------------------------------------------------------------------------------

function stopped(words) {
  isOn = false;
  say(words);
  showPlaying();
}

async function play() {
  isOn = true;
  showPlaying();
  if (position >= lastsMs) seek(0);
  try {
    await ready();
    if (!isOn) return;
    await media.play();
    say("");
    renewLater();
  } catch (fault) {
    if (fault instanceof RefusedError) stopped(fault.message);
    else if (fault.name === "NotAllowedError") stopped("The browser wants you to press play once.");
  }
}

function pause() {
  isOn = false;
  media.pause();
  showPlaying();
}

const toggle = () => (isOn ? pause() : play());

async function seek(ms) {
  position = clamp(ms);
  show();
  try {
    if (isOver()) {
      await ready(); // which goes to the place
      if (isOn) await media.play();
    } else if (media.readyState > 0) media.currentTime = position / 1000;
  } catch (fault) {
    if (fault instanceof RefusedError) stopped(fault.message);
  }
}

const by = (ms) => seek(position + ms);

function setSpeed(by_) {
  const select = part("speed");
  select.selectedIndex = Math.min(Math.max(0, select.selectedIndex + by_), select.options.length - 1);
  takeSpeed();
}

function takeSpeed() {
  media.playbackRate = media.defaultPlaybackRate = Number(part("speed").value);
  say(`Speed ${part("speed").value}`);
}

// The length of a frame: the shortest between two that were shown, as a busy machine leaves frames out; thirty in a
// second until two were seen. Below a sixtieth it is a clock that trembles.
const SHORTEST_FRAME_S = 0.015;
let frameS = 1 / 30;
let shownAt = null; // the time of the frame in sight
let lengths = [];
function watchFrames(_, { mediaTime }) {
  const length = mediaTime - shownAt;
  if (!media.paused && shownAt !== null && length > SHORTEST_FRAME_S && length < 0.5) {
    lengths = [...lengths.slice(-59), length];
    frameS = Math.min(...lengths);
  }
  shownAt = mediaTime;
  media.requestVideoFrameCallback(watchFrames);
}
const hasFrames = "requestVideoFrameCallback" in HTMLVideoElement.prototype && media instanceof HTMLVideoElement;
if (hasFrames) media.requestVideoFrameCallback(watchFrames);

let stepped = null; // where the last step went, and the frame that was in sight then
function step(direction) {
  if (isOn) pause();
  if (!(media instanceof HTMLVideoElement)) { by(direction * 20); return; }
  // From the middle of the frame in sight to the middle of the one beside it; on from there while no other is in
  // sight yet, as when keys come faster than pictures, or a picture stood for longer.
  const isSame = stepped?.shownAt === shownAt && Math.abs(stepped.ms - position) < 1;
  const isInSight = hasFrames && shownAt !== null && Math.abs(shownAt * 1000 - position) < 2000 * frameS;
  const fromMs = isInSight && !isSame ? (shownAt + frameS / 2) * 1000 : position;
  stepped = { shownAt, ms: clamp(fromMs + direction * frameS * 1000) };
  seek(stepped.ms);
}

media.addEventListener("play", () => { isOn = true; showPlaying(); requestAnimationFrame(follow); });
media.addEventListener("pause", () => { if (!isSwapping && !media.error && !readying) { isOn = false; showPlaying(); } });
media.addEventListener("ended", () => { isOn = false; position = lastsMs; showPlaying(); show(); });
media.addEventListener("timeupdate", takePosition);
media.addEventListener("seeking", () => { if (!isSwapping) takePosition(); });
media.addEventListener("loadedmetadata", () => { if (!isSwapping && Math.abs(media.currentTime * 1000 - position) > 1) media.currentTime = position / 1000; });

function takePosition() {
  if (isSwapping || media.error || media.readyState === 0) return;
  position = clamp(media.currentTime * 1000);
  show();
}

function follow() {
  if (media.paused) return;
  takePosition();
  requestAnimationFrame(follow);
}

function showPlaying() {
  setText(part("play-sign"), isOn ? "❚❚" : "▶");
  setText(part("play-words"), isOn ? "Pause" : "Play");
}

let told = "";
function show() {
  keepInView();
  part("played").style.inlineSize = `${Math.min(100, Math.max(0, shareOf(position)))}%`;
  setText(part("at-now"), `${clock(position)} / ${clock(lastsMs)}`);
  showAlign();
  showNotePlace();
  const words = `${inWords(position)} of ${inWords(lastsMs)}`;
  if (words === told) return;
  told = words;
  slider.setAttribute("aria-valuenow", Math.round(position));
  slider.setAttribute("aria-valuetext", words);
  followTranscript();
}

// --- the timeline ----------------------------------------------------------------------------------------------

// What of the recording is in sight: all of it, or a minute that goes along with the place.
const MINUTE_MS = 60_000;
const LONG_MS = 90_000;
const view = { from: 0, lasts: Math.max(1, lastsMs) };
const shareOf = (at) => ((clamp(at) - view.from) / view.lasts) * 100;
const inView = ({ at, to }) => (to || at) >= view.from && at <= view.from + view.lasts;

function see(from, lasts) {
  view.lasts = Math.max(1, lasts);
  view.from = Math.min(Math.max(0, from), Math.max(0, lastsMs - lasts));
  showView();
  drawAll();
}

// Where it leaves what is in sight, that goes on by most of itself: a quarter of it stays behind.
function keepInView() {
  if (!inView({ at: position })) see(position - view.lasts / 4, view.lasts);
}

function zoom() {
  if (lastsMs < LONG_MS) return;
  const isClose = view.lasts < lastsMs;
  isClose ? see(0, lastsMs) : see(position - MINUTE_MS / 2, MINUTE_MS);
  setText(part("zoom-words"), isClose ? "Show one minute" : "Show all of it");
  show();
}

function showView() {
  setText(part("view-from"), clock(view.from));
  setText(part("view-to"), clock(view.from + view.lasts));
  const wave = part("wave");
  if (buckets) wave.setAttribute("viewBox", `${(view.from / lastsMs) * buckets} 0 ${(view.lasts / lastsMs) * buckets} ${sidesShown * 100}`);
}

const draw = (name, attributes) => {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
};

// One outline a side: above the middle of its lane and below.
function outline(levels, middle) {
  const up = levels.map((level, at) => `${at} ${(middle - Math.max(1, level * 0.47)).toFixed(1)}`);
  const down = levels.map((level, at) => `${at} ${(middle + Math.max(1, level * 0.47)).toFixed(1)}`).reverse();
  return `M${up.join("L")}L${down.join("L")}Z`;
}

let buckets = 0; // as many as the waveform is drawn from
let sidesShown = 1;
async function drawWave() {
  if (!dataset.peaks) { noWave("There is no waveform of this recording."); return; }
  let sides;
  try {
    const answer = await fetch(dataset.peaks, { signal: AbortSignal.timeout(PATIENCE_MS), credentials: "omit" });
    if (!answer.ok) throw new Error("no peaks");
    ({ sides } = await answer.json());
  } catch {
    noWave("The waveform can’t be shown just now; the recording plays without it.");
    return;
  }
  if (!sides.length || !sides[0].length) { noWave("No sound is in this recording."); return; }
  if ("emmaFirst" in dataset) sides = [sides[1], sides[0]];
  // Where it is not known whose the sides are, they are one.
  if (sides.length === 2 && root.querySelector(".lane-only")) sides = [sides[0].map((level, at) => Math.max(level, sides[1][at]))];
  buckets = Math.max(1, sides[0].length - 1);
  sidesShown = sides.length;
  showView();
  part("wave").replaceChildren(...sides.map((levels, side) => draw("path", { d: outline(levels, side * 100 + 50), class: sides.length === 2 ? `side-${side + 1}` : "side-only" })));
}

function noWave(words) {
  setText(part("no-wave"), words);
  part("no-wave").hidden = false;
}

const marks = (kinds) => [...root.querySelectorAll("a[data-kind]")].filter((link) => kinds.includes(link.dataset.kind)).map((link) => ({ at: Number(link.dataset.at), to: Number(link.dataset.to), kind: link.dataset.kind, words: link.dataset.words, number: link.dataset.number }));
const left = (at) => `${shareOf(at)}%`;
const POINT_PX = 24;
const MOST_ROWS = 3;

// Points that would lie on each other go one row down; what finds no room in the last row joins the one it would cover.
function rowsOf(points, width) {
  const ends = [];
  const placed = [];
  for (const point of points) {
    const px = (shareOf(point.at) / 100) * width;
    const row = ends.findIndex((end) => px - end >= POINT_PX);
    if (row < 0 && ends.length >= MOST_ROWS) { placed.findLast((each) => each.row === MOST_ROWS - 1).also.push(point); continue; }
    const chosen = row < 0 ? ends.length : row;
    ends[chosen] = px;
    placed.push({ ...point, row: chosen, also: [] });
  }
  return { placed, count: ends.length };
}

function drawPoints() {
  const box = part("points");
  const had = box.contains(document.activeElement) ? document.activeElement.dataset.at : null;
  const all = marks(["moment", "note"]).filter(inView).sort((one, other) => one.at - other.at);
  const { placed, count } = rowsOf(all, box.clientWidth || 600);
  box.hidden = !placed.length;
  box.style.blockSize = `${count * POINT_PX}px`;
  box.replaceChildren(...placed.map(({ at, kind, words, row, also }, place) => {
    const point = document.createElement("button");
    const more = also.length ? `, and ${also.length} more` : "";
    Object.assign(point, { type: "button", className: `point point-${kind}`, tabIndex: place ? -1 : 0 });
    Object.assign(point.dataset, { at, words: `${clock(at)} ${words}${more}` });
    point.setAttribute("aria-label", `${kind === "note" ? "Note" : "Moment"} at ${clock(at)}: ${words}${more}`);
    point.style.insetInlineStart = left(at);
    point.style.insetBlockStart = `${row * POINT_PX}px`;
    if (had === String(at)) queueMicrotask(() => point.focus());
    return point;
  }));
}

function drawCuts() {
  for (const old of slider.querySelectorAll(".cut")) old.remove();
  slider.append(...marks(["cut"]).filter(inView).map(({ at }) => {
    const cut = document.createElement("span");
    cut.className = "cut";
    cut.style.insetInlineStart = left(at);
    return cut;
  }));
}

const EVENT_ROWS = { reply: 0, silence: 0, early: 1, overlap: 1, joined: 1, monologue: 2, back_channel: 2 };
function drawEvents() {
  const lane = part("events");
  const all = marks(Object.keys(EVENT_ROWS));
  lane.toggleAttribute("hidden", !all.length);
  lane.setAttribute("viewBox", `${view.from} 0 ${view.lasts} 18`);
  const least = view.lasts / 500; // what is shorter could not be seen
  lane.replaceChildren(...all.filter(inView).map(({ at, to, kind }) => draw("rect", { x: at, width: Math.max(least, to - at), y: EVENT_ROWS[kind] * 6 + 0.5, height: 5, class: `event-${kind}` })));
}

function tip(words, at) {
  const box = part("tip");
  box.hidden = !words;
  if (!words) return;
  setText(box, words);
  const room = part("timeline").clientWidth - box.offsetWidth;
  box.style.insetInlineStart = `${Math.max(0, Math.min(room, (shareOf(at) / 100) * part("timeline").clientWidth - box.offsetWidth / 2))}px`;
}

const atPointer = (event) => { const box = slider.getBoundingClientRect(); return clamp(view.from + Math.min(1, Math.max(0, (event.clientX - box.left) / box.width)) * view.lasts); };

function tipAt(event) {
  const at = atPointer(event);
  const near = (view.lasts / slider.clientWidth) * 3;
  const here = marks([...Object.keys(EVENT_ROWS), "cut"]).filter((each) => at >= each.at - near && at <= (each.to || each.at) + near);
  tip([clock(at), ...here.slice(0, 3).map((each) => each.words)].join(" · "), at);
}

slider.addEventListener("pointerdown", (event) => {
  if (event.button !== 0) return;
  slider.setPointerCapture(event.pointerId);
  slider.focus({ preventScroll: true });
  seek(atPointer(event));
});
slider.addEventListener("pointermove", (event) => {
  if (slider.hasPointerCapture(event.pointerId)) seek(atPointer(event));
  tipAt(event);
});
slider.addEventListener("pointerleave", () => tip(""));
part("events").addEventListener("pointermove", tipAt);
part("events").addEventListener("pointerleave", () => tip(""));
part("events").addEventListener("click", (event) => seek(atPointer(event)));

const ON_SLIDER = { ArrowLeft: -5000, ArrowDown: -5000, ArrowRight: 5000, ArrowUp: 5000, PageDown: -30_000, PageUp: 30_000, Home: -Infinity, End: Infinity };
slider.addEventListener("keydown", (event) => {
  if (!(event.key in ON_SLIDER) || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  by(ON_SLIDER[event.key]);
});

// One stop for Tab, arrows between the points.
const points = part("points");
points.addEventListener("click", ({ target }) => { const point = target.closest("button"); if (point) jump(Number(point.dataset.at)); });
points.addEventListener("keydown", (event) => {
  const direction = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!direction) return;
  event.preventDefault();
  const all = [...points.children];
  const next = all[all.indexOf(document.activeElement) + direction];
  if (!next) return;
  for (const each of all) each.tabIndex = each === next ? 0 : -1;
  next.focus();
});
for (const kind of ["focusin", "pointerover"]) points.addEventListener(kind, ({ target }) => { if (target.dataset.words) tip(target.dataset.words, Number(target.dataset.at)); });
for (const kind of ["focusout", "pointerout"]) points.addEventListener(kind, () => tip(""));

// --- jumping ---------------------------------------------------------------------------------------------------

function jump(ms) {
  seek(ms);
  const moment = marks(["moment"]).find(({ at }) => at === ms);
  if (moment && part("align-moment")) part("align-moment").value = moment.number;
}

// The one after where it is, or before; a moment that it has just passed counts as where it is.
function toMoment(direction) {
  const all = marks(["moment"]).map(({ at }) => at).sort((one, other) => one - other);
  const next = direction > 0 ? all.find((at) => at > position + 50) : all.findLast((at) => at < position - (media.paused ? 50 : 1500));
  if (next === undefined) { say(direction > 0 ? "No moment after this." : "No moment before this."); return; }
  const moment = marks(["moment"]).find(({ at }) => at === next);
  jump(next);
  say(`Moment at ${clock(next)}: ${moment.words}`);
}

root.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-at]");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    jump(Number(link.dataset.at));
  }
  const unfolding = event.target.closest("a[data-unfolds]");
  for (let fold = unfolding && document.getElementById(unfolding.hash.slice(1)); fold; fold = fold.parentElement.closest("details")) fold.open = true;
});

async function share() {
  const address = new URL(dataset.share, location.href);
  address.searchParams.set("t", String(Math.floor(position / 100) / 10));
  const field = part("share-field");
  field.value = address.href;
  try {
    await navigator.clipboard.writeText(address.href);
    say(`The link to ${clock(position)} is copied.`);
  } catch {
    field.hidden = false;
    field.select();
    say("Copy the link from this field.");
  }
}

// --- the transcript ----------------------------------------------------------------------------------------------

const track = media.textTracks[0];

function listTranscript() {
  const list = part("transcript");
  if (!list || !track?.cues) return;
  list.replaceChildren(...[...track.cues].map((cue) => {
    const [line, link, at, words] = ["li", "a", "span", "span"].map((name) => document.createElement(name));
    const by_ = cue.text.match(/^<v[^ >]* +([^>]+)>/)?.[1];
    Object.assign(link, { className: "jump", href: `${location.pathname}?t=${cue.startTime}` });
    Object.assign(link.dataset, { at: Math.round(cue.startTime * 1000), to: Math.round(cue.endTime * 1000) });
    Object.assign(at, { className: "clock", textContent: clock(cue.startTime * 1000) });
    words.textContent = `${by_ ? `${by_}: ` : ""}${cue.getCueAsHTML().textContent}`;
    link.append(at, " ", words);
    line.append(link);
    return line;
  }));
  list.hidden = false;
  followTranscript();
}

function followTranscript() {
  const list = part("transcript");
  if (!list || list.hidden) return;
  const all = [...list.querySelectorAll("a")];
  const now = all.findLast(({ dataset: { at } }) => Number(at) <= position);
  for (const each of all) if (each !== now) each.removeAttribute("aria-current");
  if (!now || now.hasAttribute("aria-current")) return;
  now.setAttribute("aria-current", "true");
  if (!list.contains(document.activeElement)) list.scrollTop = now.offsetTop - list.offsetTop - list.clientHeight / 3;
}

if (track) {
  track.mode = "hidden";
  media.querySelector("track").addEventListener("load", listTranscript);
  if (track.cues?.length) listTranscript();
}

function showCaptions() {
  const isShown = track.mode === "showing";
  track.mode = isShown ? "hidden" : "showing";
  root.querySelector("[data-act=captions]").setAttribute("aria-pressed", String(!isShown));
}

// --- what is added while listening ---------------------------------------------------------------------------------

// A note is for where it was when its field was entered, unless another place was typed.
function showNotePlace(isTaken = false) {
  const [at, words] = [part("note-at"), part("note-words")];
  if (at.dataset.typed || at.hasAttribute("aria-invalid") || words.value) return;
  if (isTaken || ![at, words].includes(document.activeElement)) at.value = clock(position);
}
root.addEventListener("focusin", ({ target }) => { if (target.matches("[data-note-words]")) showNotePlace(true); });
root.addEventListener("input", ({ target }) => { if (target.matches("[data-note-at]")) target.dataset.typed = target.value; });
// Where it is now is where a moment is, unless another place was typed.
let isTyped = false;
function showAlign() {
  const field = part("align-at");
  if (field && !isTyped && field.closest("details").open) field.value = fineClock(position);
}
root.addEventListener("input", ({ target }) => { if (target.matches("[data-align-at]")) isTyped = target.value !== ""; });
root.addEventListener("click", ({ target }) => { if (target.closest("[data-is-here]")) queueMicrotask(() => { isTyped = false; }); });
root.addEventListener("toggle", showAlign, true);
// Beside a review Enter in a field does nothing; here it keeps the note.
root.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.isComposing || !event.target.matches("[data-note] input")) return;
  event.preventDefault();
  event.target.form.requestSubmit();
});

function note() {
  delete part("note-at").dataset.typed;
  part("note-words").focus();
  showNotePlace(true);
}

// --- buttons and keys -------------------------------------------------------------------------------------------------

const ACTS = { toggle, share, zoom, captions: showCaptions, back: () => by(-10_000), on: () => by(10_000), before: () => toMoment(-1), next: () => toMoment(1) };
root.addEventListener("click", ({ target }) => ACTS[target.closest("[data-act]")?.dataset.act]?.());
part("speed").addEventListener("change", takeSpeed);
media.addEventListener("click", () => { if (media instanceof HTMLVideoElement) toggle(); });

const KEYS_OFF = "emma-keys-off";
const dialog = document.querySelector("dialog[data-keys]");
const keysOn = part("keys-on", dialog);
if (root.contains(dialog)) {
  keysOn.checked = localStorage.getItem(KEYS_OFF) === null;
  keysOn.addEventListener("change", () => { keysOn.checked ? localStorage.removeItem(KEYS_OFF) : localStorage.setItem(KEYS_OFF, "1"); });
  part("show-keys").hidden = false;
  part("show-keys").addEventListener("click", () => dialog.showModal());
}

const KEYS = { " ": toggle, k: toggle, j: ACTS.back, l: ACTS.on, m: ACTS.next, M: ACTS.before, "<": () => setSpeed(-1), ">": () => setSpeed(1), z: zoom, ",": () => step(-1), ".": () => step(1), n: note };
if (root.contains(dialog)) KEYS["?"] = () => dialog.showModal();
const TYPED_IN = "textarea, select, [contenteditable], input:not([type=radio], [type=checkbox])";
const PRESSED_BY_SPACE = "button, a, summary, input, video, audio";

document.addEventListener("keydown", (event) => {
  if (event.defaultPrevented || event.isComposing || dialog.open || !keysOn.checked) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest(TYPED_IN)) return;
  if (event.key === " " && event.target.closest(PRESSED_BY_SPACE)) return;
  const act = KEYS[event.key] ?? KEYS[event.key.toLowerCase()];
  if (!act || (event.repeat && act === toggle)) return;
  event.preventDefault();
  act();
});

// --- start --------------------------------------------------------------------------------------------------------------

const drawAll = () => { drawPoints(); drawCuts(); drawEvents(); };

media.removeAttribute("controls");
part("desk").hidden = false;
root.querySelector("[data-act=zoom]").hidden = lastsMs < LONG_MS;
position = clamp(Number(dataset.beginsAtMs ?? 0));
seek(position);
drawAll();
showPlaying();
drawWave();
new MutationObserver(drawAll).observe(part("beside-player"), { subtree: true, childList: true, attributeFilter: ["data-at", "data-words"] });
new ResizeObserver(drawPoints).observe(points.parentElement);

// The live-call page: what the site has been told, with what was pressed here laid over it. Every press is kept in this
// browser and told to the site at once; the page shows both as one, and says which is which.

const root = document.querySelector("[data-call]");
const part = (name, within = root) => within.querySelector(`[data-${name}]`);
const parts = (name, within = root) => [...within.querySelectorAll(`[data-${name}]`)];
const { call } = root.dataset;
const MOST_MOMENTS = Number(root.dataset.most);
const marks = window.callMarks;
const clock = new window.CallClock();
const channel = "BroadcastChannel" in window ? new BroadcastChannel(`emma-call:${marks.user}:${call}`) : null;

const HEARTBEAT_MS = 20_000;
const QUIET_HEARTBEAT_MS = 120_000; // before the call
const LONGEST_WAIT_MS = 60_000;
const SOON_MS = 700; // words are told when the typing rests
const AGE_IS_KEPT_EVERY_MS = 5_000;
const LEAVES_WITHIN_MS = 5_000;
const FIRST_BEATS = 3; // each narrows the clock
const MOST_FIRST_BEATS = 10; // where the way to the site is slow
const SLOW_MS = 500;
const ENOUGH_MS = 60_000;
const DONE_MS = 120_000;
const OLDEST_PRESS_MS = 1_000;
const REST_MS = 400; // longer than two taps of one finger are apart
const MISTAKE_MS = 30_000; // what is taken back and done again within this was touched by mistake

let told = JSON.parse(root.dataset.told);
let pending = new Map(); // by name, what the site does not have yet
let isRead = false; // what this browser kept from earlier: only then can all be called kept
const writing = new Set(); // names on their way into this browser's memory
const unkept = new Set(); // names that this browser can't keep
let latest = null; // the UUID of the moment that the words field speaks of
const edited = new WeakSet(); // fields that are being typed in
let currentRun = Number(sessionStorage.getItem(`emma-run:${call}`)) || null;
let trouble = null; // why nothing can be sent: { words, link, isClosed }

const clockText = (ms) => {
  const seconds = Math.floor(ms / 1000);
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, String(seconds % 60).padStart(2, "0")];
  return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${rest}` : `${minutes}:${rest}`;
};
const speak = (words) => { part("says").textContent = words; };
const setText = (element, words) => { if (element.textContent !== words) element.textContent = words; };

// --- how it stands: what was told, and over it what was not ------------------------------------------------

const unsent = () => [...pending].filter(([, value]) => !value.why);
const endedAt = () => (pending.has("ended") ? pending.get("ended").at_ms : told.ended_at_ms);
const stateNow = () => (endedAt() !== null ? "ended" : clock.isRunning ? "during" : "before");
const named = (kind) => [...pending].filter(([name]) => name.startsWith(`${kind}:`)).map(([name, value]) => [name.split(":").slice(1), value]);

function momentsNow() {
  const all = new Map(told.moments.map((moment) => [moment.uuid, moment]));
  for (const [[uuid], value] of named("moment")) {
    const there = all.get(uuid);
    const isNewer = !there || value.edition > there.edition;
    all.set(uuid, { ...value, ...there, ...(isNewer ? { words: value.words, withdrawn: value.withdrawn, edition: value.edition } : {}), uuid, isHere: true, why: value.why });
  }
  return [...all.values()].sort((one, other) => one.at_ms - other.at_ms || one.number - other.number);
}

const momentNow = (uuid) => momentsNow().find((moment) => moment.uuid === uuid);
const placesTaken = () => momentsNow().filter((moment) => !moment.why).length; // what was taken off keeps its place
const stands = (moment) => !moment.why && !moment.withdrawn;

function runNow(run) {
  const ticks = { ...run.ticks };
  for (const [[id, step], { at_ms: at }] of named("tick")) if (Number(id) === run.id) at === null ? delete ticks[step] : ticks[step] = at;
  const off = pending.get(`off:${run.id}`);
  const isTicked = Object.keys(ticks).length >= run.steps_count;
  const next = Array.from({ length: run.steps_count }, (_, place) => place + 1).find((step) => !(step in ticks)) ?? null;
  return { ...run, ticks, next, isTicked, offFrom: off ? off.at_ms : run.off_script_from_ms };
}

const runsNow = () => told.runs.map(runNow);

function currentNow() {
  const runs = runsNow();
  return runs.find((run) => run.id === currentRun) ?? runs.findLast((run) => run.offFrom === null) ?? runs.at(-1);
}

// --- keeping --------------------------------------------------------------------------------------------------

// Into this browser's memory first and on to the site without waiting for it: whichever is quicker.
function put(name, value, { soon = 0 } = {}) {
  pending.set(name, value);
  writing.add(name);
  marks.keep(call, name, value).then(() => unkept.delete(name), () => unkept.add(name)).finally(() => {
    if (pending.get(name) === value) writing.delete(name);
    channel?.postMessage({ kind: "changed" });
    show();
  });
  show();
  soon ? tellIn(soon) : tell();
}

async function readKept() {
  const own = [...pending].filter(([name]) => writing.has(name) || unkept.has(name));
  const kept = await marks.read(call);
  pending = new Map([...kept, ...own, ...[...pending].filter(([name]) => writing.has(name))]);
  show();
}

// --- telling the site ---------------------------------------------------------------------------------------

let telling = null;
let isAskedAgain = false;
let failures = 0;
let freeAt = 0; // before this the site wants to be told nothing
let timer = 0;
let beats = 0;
let toldMachine = "";
let roundTripMs; // of the last telling; the site makes the median of them

function machine() {
  const { userAgentData: agent, connection } = navigator;
  return {
    platform: agent?.platform ?? navigator.platform,
    mobile: agent?.mobile,
    touch_points: navigator.maxTouchPoints,
    connection_type: connection?.type,
    effective_type: connection?.effectiveType,
  };
}

// How old the press is. The site hears of it later than it was, and takes the earliest it hears of: so the page that
// knows best says it every time.
function ageNow() {
  const isWanted = clock.isOwn || told.elapsed_ms === null || pending.has("begun");
  return clock.isRunning && isWanted ? clock.read() : undefined;
}

function tellIn(waitMs) {
  clearTimeout(timer);
  timer = setTimeout(tell, waitMs);
}

async function tell() {
  clearTimeout(timer);
  const waitMs = freeAt - performance.now();
  if (waitMs > 0) return tellIn(waitMs);
  isAskedAgain = Boolean(telling);
  telling ??= tellNow().finally(() => { telling = null; });
  await telling;
}

async function tellNow() {
  const here = machine();
  const isNews = JSON.stringify(here) !== toldMachine;
  const answer = await marks.tell(call, pending, { ageMs: ageNow(), isUncertain: Boolean(pending.get("begun")?.is_uncertain), machine: { ...(isNews ? here : {}), round_trip_ms: roundTripMs } });
  if (answer.is !== "told") return notTold(answer);
  toldMachine = JSON.stringify(here);
  hear(answer);
  beats += 1;
  const isMore = isAskedAgain || (answer.settled.size && unsent().length);
  isAskedAgain = false;
  if (isMore) tellIn(0);
  else if (beats < FIRST_BEATS || (roundTripMs > SLOW_MS && beats < MOST_FIRST_BEATS)) tellIn(300);
  else if (stateNow() !== "ended") tellIn(stateNow() === "during" ? HEARTBEAT_MS : QUIET_HEARTBEAT_MS);
}

function hear({ said, settled, sentAt, answeredAt }) {
  const wasUnsent = failures > 0;
  failures = 0;
  trouble = null;
  roundTripMs = Math.round(answeredAt - sentAt);
  const before = told;
  take(said);
  if (said.elapsed_ms !== null) clock.hear(said.elapsed_ms, sentAt, answeredAt);
  for (const [name, { value, why }] of settled) settle(name, value, why, before);
  for (const each of said.refused) if (!each.uuid) trouble = { words: each.why };
  if (wasUnsent && !unsent().length) speak("Everything marked here has been sent.");
  channel?.postMessage({ kind: "told", said });
  afterTold();
}

// An answer that was long on its way, here or to another tab, takes nothing back of what a newer one said.
function take(said) {
  if (said.revision >= told.revision) told = said;
}

function settle(name, value, why, before) {
  if (pending.get(name) !== value) return; // changed meanwhile: told next
  if (why) return refuse(name, value, why);
  pending.delete(name);
  unkept.delete(name);
  const uuid = name.startsWith("moment:") && name.slice(7);
  if (uuid && !before.moments.some((moment) => moment.uuid === uuid)) speak(`Moment ${momentNow(uuid)?.number ?? ""} at ${clockText(value.at_ms)} kept`);
}

function refuse(name, value, why) {
  pending.set(name, { ...value, why });
  speak(`Moment at ${clockText(value.at_ms)} not kept: ${why}`);
}

function notTold({ is, signIn, words, waitMs = 0 }) {
  failures += 1;
  freeAt = performance.now() + waitMs;
  isAskedAgain = false;
  trouble = {
    "signed out": { words: words ?? "Signed out.", link: signIn },
    gone: { words: "Not open to whoever is signed in now.", isClosed: true },
    refused: { words: words ?? "The site did not understand what was sent." },
    unreachable: { words: "" },
  }[is];
  if (failures === 1 && unsent().length) speak("Not sent yet. It is kept here and sent later.");
  tellIn(Math.min(LONGEST_WAIT_MS, 1000 * 2 ** failures));
  show();
}

function afterTold() {
  dropRuns();
  if (told.runs.length > parts("run").length) fetchRuns();
  show();
}

// --- other tabs of this call -------------------------------------------------------------------------------------

const ANSWERS = {
  changed: readKept,
  told: ({ said }) => { take(said); readKept().then(afterTold); },
  clock: ({ elapsed }) => { if (!clock.isRunning) { clock.take(elapsed); readKept(); } },
  ask: () => { if (clock.isRunning) channel.postMessage({ kind: "clock", elapsed: clock.read() }); },
};
channel?.addEventListener("message", ({ data }) => ANSWERS[data.kind]?.(data));

// --- acts -------------------------------------------------------------------------------------------------------------

function newUuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

const onTheClock = (at) => Math.round(clock.read(at));

// A press that changes what is under the finger: the second tap of a hurried hand is not meant for what came there.
let restsUntil = 0;
const rest = () => { restsUntil = performance.now() + REST_MS; };

function begin(at) {
  if (stateNow() !== "before") return;
  rest();
  clock.begin(at);
  beats = 0;
  channel?.postMessage({ kind: "clock", elapsed: clock.read() });
  put("begun", { age_ms: clock.read() });
  for (const setUp of parts("what-to-do")) setUp.open = false;
  speak("The call clock runs.");
  stayAwake();
}

function mark(at) {
  if (stateNow() !== "during") return;
  if (placesTaken() >= MOST_MOMENTS) return speak(`Not kept: this call holds ${MOST_MOMENTS} moments, and no more.`);
  const number = momentsNow().length + 1;
  latest = newUuid();
  edited.delete(part("words"));
  put(`moment:${latest}`, { at_ms: onTheClock(at), words: "", withdrawn: false, number, edition: 0 });
  if (failures) speak(`Moment ${number} at ${clockText(onTheClock(at))} kept here, not sent yet`);
}

// The newest edition of a moment holds, whichever tab or device it comes from.
function change(uuid, changes, soon) {
  const { at_ms, words, withdrawn = false, number, edition = 0 } = momentNow(uuid) ?? {};
  const before = { words, withdrawn };
  if (at_ms === undefined || Object.keys(changes).every((name) => before[name] === changes[name])) return;
  put(`moment:${uuid}`, { at_ms, number, ...before, ...changes, edition: edition + 1 }, { soon });
}

// Words are an edition with each character, and so kept; what a field merely shows is never told.
function takeWords(field, uuidNow) {
  field.addEventListener("input", () => {
    edited.add(field);
    change(uuidNow(), { words: field.value.trim() }, SOON_MS);
  });
  field.addEventListener("blur", () => { edited.delete(field); tellRest(); show(); });
}

function follow(field, words) {
  if (!edited.has(field) && field.value !== words) field.value = words;
}

const tellRest = () => { if (unsent().length) tell(); };

const takenBack = new Map(); // by the name of an entry: what it said, and when it was taken back

// Done at `now`, or taken back. What is done again soon was touched by mistake: its first time comes back.
function putTime(name, before, isDone, now) {
  if (!isDone) takenBack.set(name, { before, at: now });
  const { before: first, at } = takenBack.get(name) ?? {};
  put(name, { at_ms: isDone ? (now - at < MISTAKE_MS ? first : now) : null });
}

function tick(run, step, isTicked, at) {
  if (stateNow() !== "during") return;
  const now = onTheClock(at);
  putTime(`tick:${run.id}:${step}`, run.ticks[step], isTicked, now);
  const after = runsNow().find((each) => each.id === run.id);
  if (after.isTicked && after.offFrom === null) putTime(`off:${run.id}`, null, true, now);
  if (!after.isTicked && run.isTicked && run.offFrom !== null) putTime(`off:${run.id}`, run.offFrom, false, now);
  showWhereItStands();
  speak(isTicked ? (after.next ? `Step ${step} done. Now step ${after.next}.` : "Steps done. Keep talking off-script.") : `Step ${step} taken back.`);
}

function goOffScript(run, isOff, at) {
  if (stateNow() !== "during") return;
  putTime(`off:${run.id}`, run.offFrom, isOff, onTheClock(at));
}

const showWhereItStands = () => root.querySelector("[data-run]:not([hidden]) .is-now")?.scrollIntoView({ block: "nearest" });

let isLeaving = false;

function end(at) {
  if (stateNow() !== "during") return;
  rest();
  endsHere = true;
  put("ended", { at_ms: onTheClock(at) });
  awake?.release();
  speak("The call has ended.");
  part("ended-title").focus();
  isLeaving = navigator.onLine && parts("file").length === 1;
  setTimeout(() => { isLeaving = false; showStanding(); }, LEAVES_WITHIN_MS);
  leaveOnceAllIsTold();
}

// With one result to file, on to its form at once; but never away from something that is still unsent.
function leaveOnceAllIsTold() {
  if (isLeaving && !window.callRecorder?.isHolding && !unsent().length && endedAt() !== null) location.assign(part("file").href);
}

function reopen() {
  rest();
  isLeaving = false;
  put("ended", { at_ms: null });
  speak("The call goes on.");
  stayAwake();
}

// Keeps a phone's screen on during the call; a browser that refuses is left alone.
let awake = null;
async function stayAwake() {
  if (stateNow() !== "during" || document.hidden || awake || !navigator.wakeLock) return;
  awake = await navigator.wakeLock.request("screen").catch(() => null);
  awake?.addEventListener("release", () => { awake = null; });
}

// --- scripts of this call -----------------------------------------------------------------------------------------------

function choose(id) {
  currentRun = id;
  sessionStorage.setItem(`emma-run:${call}`, id);
  show();
  showWhereItStands();
}

// The scripts of a page that was asked for just now are those of the call; how far each is, this page knows better.
function adopt(html) {
  const there = part("call", new DOMParser().parseFromString(html, "text/html"));
  if (!there) return;
  for (const section of parts("run", there)) if (!part(`run="${section.dataset.run}"`)) part("runs").append(section);
  for (const name of ["add-box", "ended-list"]) part(name).replaceWith(part(name, there));
  dress(root);
  const fresh = JSON.parse(there.dataset.told);
  const runs = fresh.runs.map((run) => told.runs.find(({ id }) => id === run.id) ?? run);
  told = { ...told, runs, revision: Math.max(told.revision, fresh.revision) };
  dropRuns();
  show();
}

function dropRuns() {
  for (const section of parts("run")) if (!told.runs.some(({ id }) => id === Number(section.dataset.run))) section.remove();
}

let fetching = null;
function fetchRuns() {
  fetching ??= fetch(location.pathname, { redirect: "error" })
    .then(async (answer) => { if (answer.ok) adopt(await answer.text()); })
    .catch(() => {}).finally(() => { fetching = null; });
}

// Whether the site did what the form asks, without leaving the page; if not, the line says why.
async function send(form, act, line) {
  const body = new FormData(form);
  body.set("act", act);
  body.set("csrfmiddlewaretoken", window.csrfToken());
  const answer = await fetch(form.action, { method: "POST", body }).catch(() => null);
  const isDone = answer?.ok && !answer.headers.get("Content-Type").startsWith("application/json");
  const isSignedOut = navigator.onLine && answer?.status === 401;
  setText(line, isDone ? "" : isSignedOut ? "Not done: signed out. Sign in again first." : "Not done: the site can't be reached. Try again when you are online.");
  if (isDone) adopt(await answer.text());
  return isDone;
}

async function takeOffScript(form) {
  if (!await send(form, "take_off_script", part("take-off-says", form))) return;
  tell();
  speak(told.runs.some((run) => run.id === Number(form.elements.run.value)) ? "The script stays on the call: something of it was done." : "The script was taken off the call.");
}

async function addScript(form) {
  const known = new Set(told.runs.map((run) => run.id));
  if (!await send(form, "script", part("add-says"))) return;
  tell(); // the other tabs hear of it
  const added = told.runs.find((run) => !known.has(run.id));
  if (!added) return;
  const section = part(`run="${added.id}"`);
  part("what-to-do", section).open = true;
  choose(added.id);
  part('step="1"', section).scrollIntoView({ block: "center" });
  speak(`${added.title} added.`);
}

// --- showing ---------------------------------------------------------------------------------------------------------------

let endsHere = false; // with a press on this page

function sayWhereItEnded(state) {
  const isNews = root.dataset.state === "during" && state === "ended" && !endsHere;
  if (isNews) {
    part("ended-elsewhere").hidden = false;
    speak("The call was ended on another page or device.");
  }
  if (state === "during") {
    part("ended-elsewhere").hidden = true;
    endsHere = false;
  }
}

function show() {
  const state = stateNow();
  sayWhereItEnded(state);
  const isOther = root.dataset.state !== state;
  root.dataset.state = state;
  for (const element of parts("when")) element.hidden = !element.dataset.when.split(" ").includes(state);
  showCallLink();
  showRuns(state);
  showMoments(state);
  showClock();
  showStanding();
  if (isOther) document.dispatchEvent(new CustomEvent("call:state", { detail: state }));
  leaveOnceAllIsTold();
}

function showCallLink() {
  for (const link of parts("open")) {
    link.hidden = !told.call_link;
    if (told.call_link) link.href = told.call_link;
  }
  part("no-link").hidden = Boolean(told.call_link);
  part("begin").classList.toggle("primary", !told.call_link);
  setText(part("begin"), told.call_link ? "Begin without opening Emma" : "Begin the call");
  for (const select of parts("build")) if (!pending.has("build") && document.activeElement !== select) select.value = told.build ?? "";
}

function showRuns(state) {
  const runs = runsNow();
  const current = currentNow();
  if (!current) return;
  for (const run of runs) {
    const section = part(`run="${run.id}"`);
    if (!section) continue;
    section.hidden = run.id !== current.id;
    section.querySelector("h2").classList.add("visually-hidden");
    for (const form of parts("take-off-run", section)) form.hidden = state === "ended" || runs.length < 2 || Object.keys(run.ticks).length > 0 || run.offFrom !== null;
    showSteps(section, run, state);
  }
  showSwitch(runs, current);
  setText(part("title"), state === "ended" && runs.length > 1 ? "Call" : current.title);
  const next = part("next");
  next.disabled = current.offFrom !== null || current.next === null;
  setText(part("next-words", next), current.next === null ? "Steps done" : current.offFrom !== null ? "Off-script" : `Step ${current.next} done`);
  if (current.offFrom === null) setText(part("place"), `Step ${current.next} of ${current.steps_count}`);
}

function showSteps(section, run, state) {
  for (const item of parts("step", section)) {
    const step = item.dataset.step;
    const isTicked = step in run.ticks;
    const isNow = state === "during" && run.offFrom === null && Number(step) === run.next;
    item.classList.toggle("is-done", isTicked);
    item.classList.toggle("is-now", isNow);
    isNow ? item.setAttribute("aria-current", "step") : item.removeAttribute("aria-current");
    const button = item.querySelector("button");
    button.setAttribute("aria-pressed", String(isTicked));
    button.disabled = state !== "during";
    setText(part("at", item), isTicked ? clockText(run.ticks[step]) : "");
  }
  const isOff = run.offFrom !== null;
  const off = part("off", section);
  off.classList.toggle("is-now", isOff && state === "during");
  part("off-panel", off).hidden = !isOff || state !== "during";
  part("off-begin", off).hidden = isOff && state === "during";
  part("off-back", off).hidden = run.isTicked;
}

function showSwitch(runs, current) {
  const place = part("run-switch");
  place.hidden = runs.length < 2;
  const wanted = runs.map((run) => `${run.id}:${run.isTicked}:${run.id === current.id}:${run.title}`).join();
  if (place.dataset.shown === wanted) return;
  place.dataset.shown = wanted;
  const hadFocus = place.contains(document.activeElement);
  place.replaceChildren(...runs.map((run) => {
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "run-choice", textContent: run.isTicked ? `✓ ${run.title}` : run.title });
    button.setAttribute("aria-pressed", String(run.id === current.id));
    button.addEventListener("click", () => choose(run.id));
    return button;
  }));
  if (hadFocus) place.querySelector('[aria-pressed="true"]').focus();
}

const rows = new Map(); // the list items by the UUID of their moment

function showMoments(state) {
  const moments = momentsNow().reverse();
  const list = part("moments");
  const wanted = moments.map((moment) => rowOf(moment));
  for (const row of [...list.children]) if (!wanted.includes(row)) row.remove();
  wanted.forEach((row, place) => { if (list.children[place] !== row) list.insertBefore(row, list.children[place] ?? null); });
  part("none").hidden = moments.length > 0;
  const standing = moments.filter(stands);
  setText(part("count"), moments.length ? String(standing.length) : "");
  setText(part("dock-count"), standing.length === 1 ? "1 moment" : standing.length ? `${standing.length} moments` : "");
  showWordsField(state, standing);
}

function rowOf(moment) {
  const row = rows.get(moment.uuid) ?? newRow(moment);
  const at = clockText(moment.at_ms);
  setText(part("at", row), at);
  setText(part("said", row), moment.words);
  part("said", row).hidden = !moment.words || !part("mending", row).hidden;
  follow(part("mending", row), moment.words);
  const mend = part("mend", row);
  mend.hidden = !stands(moment) || !part("mending", row).hidden;
  setText(mend, moment.words ? "Change" : "Add words");
  mend.setAttribute("aria-label", `${moment.words ? "Change the words of" : "Add words to"} the moment at ${at}`);
  part("mending", row).setAttribute("aria-label", `Words for the moment at ${at}`);
  setText(part("standing", row), moment.why ? `not kept: ${moment.why}` : moment.isHere ? standingHere(`moment:${moment.uuid}`) : moment.withdrawn ? "taken off" : "kept");
  row.classList.toggle("is-here", Boolean(moment.isHere));
  row.classList.toggle("is-withdrawn", Boolean(moment.withdrawn));
  const withdraw = part("withdraw", row);
  withdraw.hidden = Boolean(moment.why);
  setText(withdraw, moment.withdrawn ? "Put back" : "Take off");
  withdraw.setAttribute("aria-label", `${withdraw.textContent} the moment at ${at}`);
  part("take-off", row).hidden = !moment.why;
  return row;
}

// "Kept" is said only of what outlives this browser's end.
const standingHere = (name) => (writing.has(name) ? "keeping…" : unkept.has(name) ? "not kept yet" : "kept here only");

function newRow({ uuid }) {
  const row = part("moment-row").content.firstElementChild.cloneNode(true);
  rows.set(uuid, row);
  const field = part("mending", row);
  const close = () => {
    if (field.hidden) return;
    field.hidden = true;
    show();
  };
  part("mend", row).addEventListener("click", () => {
    field.hidden = false;
    show();
    field.focus();
  });
  takeWords(field, () => uuid);
  field.addEventListener("blur", close);
  part("withdraw", row).addEventListener("click", () => {
    const { withdrawn, at_ms: at } = momentNow(uuid);
    change(uuid, { withdrawn: !withdrawn });
    speak(`Moment at ${clockText(at)} ${withdrawn ? "put back" : "taken off"}.`);
  });
  field.addEventListener("keydown", (event) => {
    if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
    event.preventDefault();
    close();
    part("mend", row).focus();
  });
  part("take-off", row).addEventListener("click", () => {
    pending.delete(`moment:${uuid}`);
    marks.drop(call, `moment:${uuid}`);
    rows.delete(uuid);
    show();
  });
  return row;
}

// The field is always there, so nothing shifts under the thumb; before the first moment it can't be typed in.
// It speaks of the newest moment; never of another than the one it is typed for.
function showWordsField(state, standing) {
  const field = part("words");
  if (document.activeElement !== field || !standing.some((each) => each.uuid === latest)) latest = standing[0]?.uuid ?? null;
  const moment = standing.find((each) => each.uuid === latest);
  follow(field, moment?.words ?? "");
  field.disabled = !moment || state !== "during";
  setText(part("words-label"), moment ? `Words for the moment at ${clockText(moment.at_ms)}` : "A few words, once a moment is marked");
}

function showClock() {
  const now = endedAt() ?? clock.read();
  for (const place of parts("timer")) setText(place, clockText(now));
  const run = stateNow() === "during" ? currentNow() : null;
  if (run?.offFrom === null || !run) return;
  const section = part(`run="${run.id}"`);
  if (section) showStretch(section, Math.max(0, now - run.offFrom));
}

function showStretch(section, ms) {
  const left = ms < ENOUGH_MS ? ENOUGH_MS - ms : Math.max(0, DONE_MS - ms);
  const leftText = clockText(Math.ceil(left / 1000) * 1000);
  setText(part("left", section), leftText);
  setText(part("place"), left ? `Off-script: ${clockText(ms)} of ${ms < ENOUGH_MS ? "1:00" : "2:00"}` : "Off-script: done");
  const words = ms < ENOUGH_MS ? "Keep talking: a minute at least." : ms < DONE_MS ? "Enough. Until 2:00 is better." : "Done. End the call when you like.";
  const line = part("left-words", section);
  if (line.textContent !== words && ms >= ENOUGH_MS) speak(words);
  setText(line, words);
  part("stretch", section).value = Math.min(DONE_MS, ms) / 1000;
}

function showStanding() {
  const count = unsent().length;
  const isStuck = count > 0 && (failures > 0 || !navigator.onLine);
  const isLost = unsent().some(([name]) => unkept.has(name) && !writing.has(name));
  const isFull = stateNow() === "during" && placesTaken() >= MOST_MOMENTS;
  const words = isStuck
    ? trouble?.isClosed ? `Kept here: ${count}` : isLost ? `Not sent, and this browser can't keep a copy: ${count}` : `Kept here, not sent yet: ${count}`
    : !navigator.onLine ? "Offline. What you mark is kept here."
      : count || !isRead ? null : isFull ? `${MOST_MOMENTS} moments: this call holds no more` : stateNow() === "before" ? "" : "All kept";
  for (const line of parts("standing-line")) {
    if (words !== null && line.dataset.shown !== words + (trouble?.words ?? "")) drawStanding(line, words);
    line.classList.toggle("is-wrong", isLost || Boolean(trouble?.words));
    line.classList.toggle("is-here", isStuck);
  }
  part("mark").setAttribute("aria-disabled", String(isFull));
  part("closed").hidden = !trouble?.isClosed;
  part("uncertain").hidden = !told.start_is_uncertain && !pending.get("begun")?.is_uncertain;
  showTheWayOn(count);
}

function showTheWayOn(count) {
  const isOffline = !navigator.onLine;
  part("ended-unsent").hidden = isLeaving || !(count || isOffline);
  setText(part("ended-unsent"), isOffline
    ? "You are offline. The form opens once the site can be reached; until then leave this page open. What you marked is kept here and sent then."
    : "Not everything has reached the site yet. File all the same, or wait: what is kept here is sent as soon as the site can be reached.");
  for (const link of parts("file")) link.setAttribute("aria-disabled", String(isOffline));
}

function drawStanding(line, words) {
  line.dataset.shown = words + (trouble?.words ?? "");
  line.textContent = trouble?.words ? `${trouble.words} ${words === "All kept" ? "" : words}` : words;
  if (!trouble?.link) return;
  const link = document.createElement("a");
  Object.assign(link, { href: trouble.link, textContent: "Sign in ↗", target: "_blank", rel: "noopener", ariaLabel: "Sign in in another tab" });
  line.append(" ", link);
}

// --- under the hand --------------------------------------------------------------------------------------------------------

let pressedAt = 0;
addEventListener("pointerdown", (event) => { pressedAt = event.timeStamp; }, true);

// When the finger came down; a key or a screen reader knows only its click.
function pressOf(event) {
  const now = performance.now();
  const isOld = (at) => !(at > now - OLDEST_PRESS_MS && at <= now);
  const at = event.detail > 0 && !isOld(pressedAt) ? pressedAt : event.timeStamp;
  return isOld(at) ? now : at;
}

const runOf = (element) => runsNow().find((run) => run.id === Number(element.closest("[data-run]").dataset.run));

const ACTS = {
  begin,
  mark,
  end,
  reopen,
  next: (at) => { const run = currentNow(); if (run?.next && run.offFrom === null) tick(run, run.next, true, at); },
  step: (at, button) => { const run = runOf(button); const { step } = button.closest("[data-step]").dataset; tick(run, Number(step), !(step in run.ticks), at); },
  "off-begin": (at, button) => goOffScript(runOf(button), true, at),
  "off-back": (at, button) => goOffScript(runOf(button), false, at),
  "add-script": (at, button) => addScript(button.form),
  "take-off-script": (at, button) => takeOffScript(button.form),
  "show-keys": () => dialog.showModal(),
};

root.addEventListener("click", (event) => {
  const isLost = event.target.closest("[data-file]") && !navigator.onLine; // it would lead to the browser's own page
  if (performance.now() < restsUntil || isLost) return event.preventDefault();
  if (event.target.closest("[data-begins]")) return begin(pressOf(event));
  const button = event.target.closest("[data-act]");
  if (!button) return undefined;
  event.preventDefault();
  return ACTS[button.dataset.act](pressOf(event), button);
});
root.addEventListener("auxclick", (event) => { if (event.button === 1 && event.target.closest("[data-begins]")) begin(pressOf(event)); });

// Marking the next moment with the words field open leaves a phone's keyboard as it is.
part("mark").addEventListener("mousedown", (event) => { if (document.activeElement === part("words")) event.preventDefault(); });
takeWords(part("words"), () => latest);
// On to the buttons, but to none of them: a second Enter presses nothing.
part("words").addEventListener("keydown", (event) => {
  if (event.isComposing || !["Enter", "Escape"].includes(event.key)) return;
  event.preventDefault();
  part("buttons").focus();
});
for (const select of parts("build")) select.addEventListener("change", () => put("build", { pk: select.value }));

const KEYS_OFF = "emma-keys-off";
const dialog = part("keys");
const keysOn = part("keys-on");
keysOn.checked = localStorage.getItem(KEYS_OFF) === null;
keysOn.addEventListener("change", () => { keysOn.checked ? localStorage.removeItem(KEYS_OFF) : localStorage.setItem(KEYS_OFF, "1"); });

const KEYS = {
  m: (at) => mark(at),
  n: (at) => ACTS.next(at),
  u: (at) => { const run = currentNow(); const last = run && Object.keys(run.ticks).map(Number).sort((one, other) => run.ticks[one] - run.ticks[other] || one - other).at(-1); if (last) tick(run, last, false, at); },
  w: () => { if (!part("words").disabled) part("words").focus(); },
  "?": () => dialog.showModal(),
};

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("textarea, select:not([data-build]), [contenteditable], input:not([type=checkbox])");
  if (event.repeat && event.key === "Enter" && event.target.closest("[data-act]")) event.preventDefault();
  if (event.defaultPrevented || event.isComposing || event.repeat || dialog.open || isTyping) return;
  if (event.ctrlKey || event.metaKey || event.altKey || !keysOn.checked) return;
  const act = KEYS[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act(pressOf(event));
});

// What stands in for this script goes.
const dress = (within) => parts("unscripted", within).forEach((element) => element.remove());

// For what else stands on this page and goes by the call: its recorder.
window.callPage = { clock, clockText, state: stateNow, leaveIfDone: leaveOnceAllIsTold };

// --- start --------------------------------------------------------------------------------------------------------------------

function beatSecond() {
  showClock();
  setTimeout(beatSecond, 1000 - (clock.read() % 1000) + 5);
}

// While the site does not know of the press, this browser keeps how old it is: all that is left if it is killed.
setInterval(() => {
  if (pending.has("begun") && clock.isRunning) {
    const value = { ...pending.get("begun"), age_ms: clock.read() };
    pending.set("begun", value);
    marks.keep(call, "begun", value).catch(() => {});
  }
}, AGE_IS_KEPT_EVERY_MS);

// The page's own request is the first reading: the site read its clock between asking and answering.
function takeClockOfThePage() {
  const [visit] = performance.getEntriesByType("navigation");
  if (told.elapsed_ms === null) return;
  clock.hear(told.elapsed_ms, visit?.requestStart || 0, visit?.responseStart || performance.now());
}

// The press was never told, and no other tab has its clock: the last age that was kept is all there is, and said so.
async function takeClockOfTheDead() {
  if (clock.isRunning || !pending.has("begun")) return;
  channel?.postMessage({ kind: "ask" });
  await new Promise((go) => { setTimeout(go, 150); });
  if (clock.isRunning) return;
  clock.take(marks.leastAge(pending));
  put("begun", { age_ms: clock.read(), is_uncertain: true });
}

const wake = () => {
  if (document.hidden) return;
  stayAwake();
  tell();
};

async function start() {
  navigator.locks?.request(`emma-call:${call}`, () => new Promise(() => {}));
  dress(root);
  part("moments").replaceChildren();
  takeClockOfThePage();
  show();
  await readKept();
  isRead = true;
  await takeClockOfTheDead();
  show();
  showWhereItStands();
  stayAwake();
  tell();
  beatSecond();
}

addEventListener("online", () => { failures = 0; tell(); });
addEventListener("offline", () => showStanding());
addEventListener("focus", wake);
addEventListener("pageshow", (event) => { if (event.persisted) wake(); });
document.addEventListener("visibilitychange", wake);
addEventListener("pagehide", tellRest);
addEventListener("beforeunload", (event) => { if (unsent().some(([name]) => unkept.has(name))) event.preventDefault(); });

start();

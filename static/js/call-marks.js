// What was pressed and typed beside a call and the site does not have yet: kept in this browser as it happens, one
// entry for each thing, so that two tabs never write over each other, and told from whatever page is open. Nothing
// here asks a clock that tells the time of day. The live-call page uses it as window.callMarks.

const copies = window.localCopies;
const user = document.body.dataset.user;
const openCall = document.querySelector("[data-call]")?.dataset.call;
const MOST_MOMENTS = 200;
const MOST_MOMENTS_AT_ONCE = 50;
const MOST_CALL_MS = 24 * 3_600_000;
const MOST_BYTES_THAT_OUTLIVE_A_PAGE = 60_000;
const PATIENCE_MS = 10_000;
const LONGEST_WAIT_MS = 60_000;

const keyOf = (call, name = "") => copies.keyOf("call", `${call}:${name}`);
const addressOf = (call) => `/calls/${call}/`;
const keep = (call, name, value) => copies.keep(keyOf(call, name), value);
const drop = (call, name) => copies.remove(keyOf(call, name));

// The entries of a call by their names: begun, ended, build, moment:UUID, tick:RUN:STEP, off:RUN.
async function read(call) {
  const found = await copies.readAll(keyOf(call));
  return new Map([...(found ?? [])].map(([key, value]) => [key.slice(keyOf(call).length), value]));
}

// --- telling the site ---------------------------------------------------------------------------------

const PUT = {
  begun: (body, value) => { body.begun = { age_ms: Math.round(value.age_ms) }; },
  ended: (body, value) => { body.ended = { at_ms: value.at_ms }; },
  build: (body, value) => { body.build = value.pk; },
  moment: (body, value, [uuid]) => { body.moments.push({ uuid, at_ms: value.at_ms, words: value.words, edition: value.edition, withdrawn: Boolean(value.withdrawn) }); },
  tick: (body, value, [run, step]) => { body.ticks.push({ run: Number(run), step: Number(step), at_ms: value.at_ms }); },
  off: (body, value, [run]) => { body.off_script.push({ run: Number(run), at_ms: value.at_ms }); },
};

// A press whose page is gone is at least as old as everything that is kept of its call.
const leastAge = (marks) => Math.max(0, ...[...marks].map(([, value]) => value.age_ms ?? value.at_ms ?? 0));

function bodyOf(marks) {
  const body = { moments: [], ticks: [], off_script: [] };
  const sent = new Map();
  for (const [name, value] of marks) {
    const [kind, ...names] = name.split(":");
    if (value.why || (kind === "moment" && body.moments.length === MOST_MOMENTS_AT_ONCE)) continue;
    PUT[kind](body, value, names);
    sent.set(name, value);
  }
  return { body, sent };
}

// Tell the site these entries; `is` says how it went: told, signed out, unreachable, gone or refused.
async function tell(call, marks, { ageMs, isUncertain, machine } = {}) {
  const { body, sent } = bodyOf(marks);
  if (body.begun || ageMs !== undefined) {
    body.begun = { age_ms: Math.round(ageMs ?? leastAge(marks)), is_uncertain: isUncertain ?? Boolean(sent.get("begun")?.is_uncertain) };
  }
  const text = JSON.stringify({ ...body, machine });
  const sentAt = performance.now();
  let answer;
  try {
    answer = await fetch(`${addressOf(call)}tell/`, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRFToken": window.csrfToken() },
      body: text,
      redirect: "manual",
      keepalive: text.length < MOST_BYTES_THAT_OUTLIVE_A_PAGE,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
  } catch {
    return { is: "unreachable" };
  }
  const answeredAt = performance.now();
  const said = await answer.json().catch(() => ({}));
  if (!answer.ok || !said.kept) return kindOf(call, answer, said);
  const settled = settledBy(said, sent);
  await forget(call, settled);
  return { is: "told", said, settled, sentAt, answeredAt };
}

async function kindOf(call, answer, said) {
  if (said.error === "stale_page") return askWhoIsSignedIn(call);
  if (answer.status === 401 || answer.type === "opaqueredirect") return { is: "signed out", signIn: said.sign_in ?? "/", words: said.message };
  if (answer.status === 403 || answer.status === 404) return { is: "gone" };
  if (answer.status === 429) return { is: "unreachable", waitMs: 1000 * (Number(answer.headers.get("Retry-After")) || 1) };
  if (answer.status >= 500) return { is: "unreachable" };
  return { is: "refused", words: said.message };
}

// Without its cookies the site can't tell an old page from a sign-in that is over. It knows when asked for a page, and
// with that page comes a fresh token.
async function askWhoIsSignedIn(call) {
  const answer = await fetch(addressOf(call), { headers: { Accept: "application/json" }, redirect: "manual" }).catch(() => null);
  if (answer?.status !== 401) return { is: "unreachable", isStale: true };
  const { sign_in: signIn } = await answer.json().catch(() => ({}));
  return { is: "signed out", signIn: signIn ?? "/" };
}

// What of the entries sent is the site's now, or refused by it for good (with the reason in `why`). A moment that is
// refused for its time may be in time later: it stays.
function settledBy(said, sent) {
  const kept = new Set(said.kept);
  const isFull = said.moments.length >= MOST_MOMENTS;
  const refused = new Map(said.refused.map((each) => [each.uuid, each.why]));
  const settled = new Map();
  for (const [name, value] of sent) {
    const uuid = name.startsWith("moment:") && name.slice(7);
    if (uuid && refused.has(uuid) && (isFull || value.at_ms > MOST_CALL_MS)) settled.set(name, { value, why: refused.get(uuid) });
    else if (uuid ? kept.has(uuid) : name !== "begun" || said.elapsed_ms !== null) settled.set(name, { value });
  }
  return settled;
}

const forget = (call, settled) => Promise.all([...settled].map(([name, { value, why }]) => (
  why ? keep(call, name, { ...value, why }).catch(() => {}) : copies.removeIf(keyOf(call, name), value)
)));

window.callMarks = { user, read, keep, drop, tell, leastAge, kindOf, mayBeCleared };

// --- what an earlier page left ---------------------------------------------------------------------------

// A page that holds the call tells its own marks, and knows better how old its beginning is.
const holding = (call, act) => (navigator.locks ? navigator.locks.request(`emma-call:${call}`, { ifAvailable: true }, (lock) => lock && act()) : act());

async function leftByCall() {
  const found = new Map();
  for (const [key, value] of (await copies.readAll(copies.keyOf("call", ""))) ?? []) {
    const [call, ...names] = key.slice(copies.keyOf("call", "").length).split(":");
    if (!value.why) found.set(call, (found.get(call) ?? new Map()).set(names.join(":"), value));
  }
  return found;
}

// How it went with the last of it. The page of a press that is told here is gone, and so is its clock.
async function tellAll(call) {
  for (;;) {
    const marks = [...await read(call)].filter(([, value]) => !value.why);
    if (!marks.length) return "told";
    const { is, settled } = await tell(call, marks, { isUncertain: true });
    if (is !== "told" || !settled.size) return is;
  }
}

let failures = 0;
let timer = 0;

async function sendLeft() {
  clearTimeout(timer);
  const went = new Map();
  for (const call of (await leftByCall()).keys()) if (call !== openCall) went.set(call, await holding(call, () => tellAll(call)));
  const left = await leftByCall();
  left.delete(openCall);
  showLeft(left, went);
  if (!left.size) return;
  failures += 1;
  timer = setTimeout(sendLeft, Math.min(LONGEST_WAIT_MS, 2000 * 2 ** failures));
}

function showLeft(left, went) {
  const box = document.querySelector("[data-local-copies]");
  if (!box) return;
  box.querySelectorAll("[data-left-call]").forEach((row) => row.remove());
  for (const [call, marks] of left) box.querySelector("ul").append(rowOf(call, marks, went.get(call)));
  box.hidden = !box.querySelector("li");
}

const WHEN_SENT = {
  gone: "The call is not open to you now: a script of it may have become Safety since. It stays kept here, and is sent once you are trained for Safety. The eval team can help.",
  refused: "The site does not take it. It stays kept here; the eval team can help.",
};

function rowOf(call, marks, went) {
  const row = document.createElement("li");
  row.className = "todo-row";
  row.dataset.leftCall = call;
  const link = document.createElement(went === "gone" ? "span" : "a");
  link.textContent = "What you marked beside a call";
  if (went !== "gone") link.href = addressOf(call);
  const words = document.createElement("p");
  Object.assign(words, { className: "small quiet", textContent: `${momentsIn(marks)}. ${WHEN_SENT[went] ?? "Sent as soon as the site can be reached."}` });
  row.append(link, words);
  return row;
}

function momentsIn(marks) {
  const count = [...marks.keys()].filter((name) => name.startsWith("moment:")).length;
  if (!count) return `${marks.size === 1 ? "One thing" : `${marks.size} things`} not sent yet`;
  return `${count === 1 ? "One moment" : `${count} moments`} not sent yet`;
}

// Signing out clears this browser's memory: what is still unsent is sent first, or given up knowingly.
async function mayBeCleared() {
  let left = await leftByCall();
  for (const call of left.keys()) await tellAll(call);
  if (left.size) left = await leftByCall();
  if (!left.size) return true;
  return confirm(`${momentsIn(new Map([...left.values()].flatMap((marks) => [...marks])))}. Signing out clears them from this browser. Sign out all the same?`);
}

addEventListener("online", () => { failures = 0; sendLeft(); });
addEventListener("focus", () => { if (failures) sendLeft(); });
sendLeft();

// What an earlier page recorded is sent from any page; what does that is fetched only where there is something.
if (localStorage.getItem(`emma-recordings:${user}`)) import(document.body.dataset.sendsRecordings);

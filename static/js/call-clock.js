// The call clock: milliseconds since the press that began the call, on this browser's monotonic clock alone.
//
// A page that took the press knows its zero exactly. Any other page learns it from the site: the site read its clock at
// some instant between a request and its answer, so zero lies within an interval as long as the round trip; each
// answer narrows it. Where an answer can't be brought in line, this machine slept, or the press was somewhere else.

const EXACT_WITHIN_MS = 50;

class CallClock {
  #earliest = Number.NaN; // when zero was, at the earliest and at the latest, on performance.now()
  #latest = Number.NaN;
  isOwn = false; // this page took the press

  get isRunning() { return !Number.isNaN(this.#earliest); }

  get #zero() { return (this.#earliest + this.#latest) / 2; }

  read(at = performance.now()) {
    return this.isRunning ? Math.max(0, at - this.#zero) : 0;
  }

  begin(at) {
    this.#earliest = this.#latest = at;
    this.isOwn = true;
  }

  // Another page's reading just now, or the last one that is known of a page that is gone.
  take(elapsedMs) {
    this.begin(performance.now() - elapsedMs);
    this.isOwn = false;
  }

  // What the site read at some instant between the two.
  hear(elapsedMs, sentAt, answeredAt) {
    const [earliest, latest] = [sentAt - elapsedMs, answeredAt - elapsedMs];
    if (!this.isRunning) {
      [this.#earliest, this.#latest] = [earliest, latest];
      return;
    }
    const isBehind = latest < this.#earliest - EXACT_WITHIN_MS;
    const isAhead = earliest > this.#latest + EXACT_WITHIN_MS;
    // The site hears of a press later than it was: that its clock lags is no news to the page that took it.
    if (isBehind || (isAhead && !this.isOwn)) {
      [this.#earliest, this.#latest] = [earliest, latest];
      this.isOwn = false;
    } else if (!this.isOwn && earliest <= this.#latest && latest >= this.#earliest) {
      this.#earliest = Math.max(this.#earliest, earliest);
      this.#latest = Math.min(this.#latest, latest);
    }
  }
}

window.CallClock = CallClock;

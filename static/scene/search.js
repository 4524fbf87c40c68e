// A search played back: the tested link swings, and known variables block paths between its ends.
import {Picture, add, el, range} from "./dom.js";
import {Graph} from "./graph.js";
import {ABSENT, UNTESTED, pairsOf} from "./model.js";

const [ORDER, X, Y, GIVEN, DECISION, REMOVED, REASON] = [0, 1, 2, 3, 4, 5, 6];
const ASK = 0.55;       // the share of a step that passes before its answer
const SPEEDS = {slow: 3.2, normal: 1.5, fast: 0.35, "very fast": 0.07};  // seconds per step
const LONGEST = 18;     // seconds

export class Search extends Picture {
  speed = "normal";
  guesses = [0, 0];

  /** @param {{titles: string[], layouts: any, beats: any[], truth: number[], causal: number[], end: number[], digest: string}} given */
  show(given) {
    if (!this.fresh(given)) { this.draw(); return; }
    Object.assign(this, {at: 0, phase: 0, going: false, guess: null});
    this.pairs = pairsOf(given.titles.length);
    this.place = new Map(this.pairs.map(([i, j], p) => [i * 1000 + j, p]));
    this.model = {d: given.titles.length, pairs: this.pairs, truth: given.truth, causal: given.causal};
    if (!this.graph) this.build();
    this.fillJump();
    this.layOut();
  }

  get last() { return this.given.beats.length + 1; }

  build() {
    this.root.className = "scene search";
    const button = (words, label, act) => el("button", {"aria-label": label, onclick: () => { this.stop(); act(); }}, words);
    this.graph = new Graph({role: "img"});
    this.button = el("button", {class: "play", onclick: () => this.play()}, "▶ Play");
    this.slider = range("Step", {class: "clock", oninput: () => { this.stop(); this.go(Number(this.slider.value)); }});
    this.jump = el("select", {"aria-label": "Jump to the step that decided a link", onchange: () => { this.stop(); if (this.jump.value) this.go(Number(this.jump.value)); }});
    const speed = el("select", {"aria-label": "Speed", onchange: () => { this.speed = speed.value; }}, ...Object.keys(SPEEDS).map((name) => el("option", {value: name, selected: name === this.speed}, name)));
    this.ask = el("input", {type: "checkbox", onchange: () => { this.guess = null; this.draw(); }});
    this.parts = {title: el("h3"), question: el("p", {class: "question-asked"}), answer: el("p", {class: "answer", "aria-live": "polite"}), reason: el("p"), count: el("p", {class: "count"}),
      bets: el("div", {class: "buttons bets"}, el("button", {onclick: () => this.bet(true)}, "The link goes"), el("button", {onclick: () => this.bet(false)}, "It stays"))};
    const p = this.parts;
    this.root.replaceChildren(
      el("div", {class: "stage"}, this.graph.svg, el("div", {class: "told"}, p.title, p.question, p.bets, p.answer, p.reason, p.count)),
      el("div", {class: "buttons controls"}, button("|◀", "Back to the start", () => this.go(0)), button("◀ Step", "One step back", () => this.go(this.at - 1)), this.button,
        button("Step ▶", "One step on", () => this.go(this.at + 1)), button("Next order ▶|", "Next order", () => this.nextOrder()), this.slider,
        el("label", {}, "Speed ", speed), el("label", {}, this.ask, " Let me guess first"), this.jump));
    this.watch(() => this.layOut());
  }

  layOut() {
    if (this.graph.fit(this.model, this.given, this.fold())) {
      this.roads = add("g", {class: "roads"});
      this.graph.wires.after(this.roads);  // below the boxes
      this.boxes = [...this.graph.svg.querySelectorAll(".box")];
    }
    this.draw();
  }

  fillJump() {
    const decided = new Map(), t = this.given.titles;
    this.given.beats.forEach((b, k) => decided.set(`${b[X]},${b[Y]}`, k + 1));
    this.slider.max = String(this.last);
    this.jump.replaceChildren(el("option", {value: ""}, "Jump to a link …"), ...[...decided.values()].map((to) => {
      const b = this.given.beats[to - 1];
      return el("option", {value: to}, `${t[b[X]]} – ${t[b[Y]]} (${b[REMOVED] ? "went" : "stayed"})`);
    }));
  }

  step() { return this.at > 0 && this.at < this.last ? this.given.beats[this.at - 1] : null; }
  pair(b) { return this.place.get(Math.min(b[X], b[Y]) * 1000 + Math.max(b[X], b[Y])); }

  /** Go to a step. If a guess is due, wait before the answer. */
  go(to) {
    this.at = Math.max(0, Math.min(this.last, to));
    this.guess = null;
    this.phase = this.ask.checked || this.going ? 0 : 1;
    this.move();
  }

  nextOrder() {
    const now = this.step() ? this.step()[ORDER] : this.at ? Infinity : -1;
    const to = this.given.beats.findIndex((b) => b[ORDER] > now);
    this.go(to < 0 ? this.last : to + 1);
  }

  bet(goes) {
    const b = this.step();
    if (!b || this.guess !== null) return;
    this.guess = goes;
    this.guesses[1]++;
    if (goes === this.gone(b)) this.guesses[0]++;
    this.phase = 1;
    this.move();
  }

  gone(b) { return b[DECISION] === "independent"; }
  /** Seconds per step: at normal speed the whole search takes LONGEST seconds. */
  get pace() { return this.speed === "normal" ? Math.min(SPEEDS.normal, LONGEST / this.last) : SPEEDS[this.speed]; }
  get waiting() { return Boolean(this.step()) && this.ask.checked && this.guess === null; }

  play() {
    if (this.going) { this.stop(); this.draw(); return; }
    if (this.at >= this.last) this.at = 0;
    this.going = true;
    this.phase = 1;
    this.move();
  }

  stop() { this.going = false; }

  /** Request frames while anything moves. */
  move() {
    this.draw();
    this.animate((passed, now) => {
      this.clock = now / 1000;
      if (!this.waiting || this.phase < ASK) this.phase += passed / this.pace;
      if (this.waiting) this.phase = Math.min(this.phase, ASK);
      if (this.going && !this.waiting && this.phase >= 1) {
        if (this.at + 1 >= this.last) this.going = false;
        this.at++;
        this.guess = null;
        this.phase = 0;
      }
      this.draw();
      return this.going || (this.step() && !this.still && this.phase < 1);
    });
  }

  draw() {
    const b = this.step(), end = this.at === this.last, gone = new Set();
    const told = b && (this.phase >= ASK) && !this.waiting;
    for (let k = 0; k < Math.min(this.at, this.given.beats.length); k++) {
      const beat = this.given.beats[k];
      if (beat[REMOVED] && (k < this.at - 1 || told)) gone.add(this.pair(beat));
    }
    const asked = b ? this.pair(b) : null;
    this.graph.paint((p) => end ? this.graph.single(p, this.given.end[p]) :
      {kind: "open", opacity: gone.has(p) ? (p === asked ? 0.12 : 0) : p === asked ? 1 : 0.2, forth: 0, back: 0}, asked);
    this.swing(asked, b, told);
    this.boxes.forEach((box, k) => box.setAttribute("class", `box${b && (b[X] === k || b[Y] === k) ? " asks" : ""}${b && b[GIVEN].includes(k) ? " held" : ""}`));
    this.words(b, end, told, gone.size);
    this.root.dataset.at = String(this.at);
  }

  /** The tested link swings; dots run along open paths and stop at known variables. */
  swing(asked, b, told) {
    if (this.swung !== undefined && this.swung !== asked) this.graph.bend(this.swung, 0);
    this.swung = asked === null ? undefined : asked;
    this.roads.replaceChildren();
    if (!b) return;
    const running = !this.still && this.phase < 1;
    this.graph.bend(asked, running ? 0.06 * Math.sin(9 * (this.clock || 0)) : 0);
    const {at} = this.graph.layout, from = at[b[X]], to = at[b[Y]];
    for (const g of b[GIVEN]) {
      add("path", {d: `M${from}L${at[g]}L${to}`, class: "road"}, this.roads);
      add("path", {d: `M${at[g][0] - 26} ${at[g][1] - 24}h52M${at[g][0] - 26} ${at[g][1] + 24}h52`, class: "bar"}, this.roads);
    }
    if (this.still) return;
    const stays = !this.gone(b), shown = told || !this.ask.checked;
    for (let k = 0; k < 5; k++) {
      const share = ((this.clock || 0) * 0.6 + k / 5) % 1;
      for (const g of b[GIVEN]) this.pulse(from, at[g], share * 0.86, "stopped");  // a known variable blocks the path
      if (shown && stays) this.pulse(from, to, share, "through");
    }
  }

  pulse(from, to, share, kind) {
    add("circle", {cx: from[0] + (to[0] - from[0]) * share, cy: from[1] + (to[1] - from[1]) * share, r: 5, class: `pulse ${kind}`}, this.roads);
  }

  words(b, end, told, gone) {
    const {parts, given} = this, t = given.titles, whole = this.pairs.length;
    parts.title.textContent = b ? `Order ${b[ORDER]}: ${b[GIVEN].length ? `${b[GIVEN].length} in the conditioning set` : "no condition"}` : end ? "Directions" : "Before the first test";
    parts.question.textContent = b ? `Do ${t[b[X]]} and ${t[b[Y]]} still go together${b[GIVEN].length ? ` once we know ${b[GIVEN].map((g) => t[g]).join(", ")}` : ""}?` :
      end ? "Where two links meet in the middle of a pair that was separated without it, both point there." : "Every pair is linked. Each test may take one link away; none comes back.";
    parts.bets.hidden = !this.ask.checked;
    parts.bets.style.visibility = this.waiting ? "" : "hidden";
    const right = this.guess === null || !b ? "" : this.guess === this.gone(b) ? "You said so. " : "You said otherwise. ";
    const verdict = !b ? "" : b[REMOVED] ? "No: the link goes." : b[DECISION] === "passed" ? "Perhaps not: it is examined next." : b[DECISION] === "independent" ? "No." :
      b[GIVEN].length ? "Yes: the two still depend on each other. The link stays." : "Yes: the link stays.";
    const answer = told ? right + verdict : this.waiting ? "What will happen?" : "";
    if (parts.answer.textContent !== answer) parts.answer.textContent = answer;
    parts.reason.textContent = told && b[REASON] ? `Because ${b[REASON]}.` : "";
    const open = given.end.filter((s) => s === UNTESTED).length, left = given.end.filter((s) => s !== ABSENT && s !== UNTESTED).length;
    const score = this.guesses[1] ? ` · you: ${this.guesses[0]} of ${this.guesses[1]}` : "";
    parts.count.textContent = `Step ${Math.min(this.at, given.beats.length)} of ${given.beats.length} · ` +
      (end ? `${left} links left${open ? ` · ${open} pairs not fully tested` : ""}` : `${whole - gone} links left`) + score;
    this.graph.svg.setAttribute("aria-label", `${parts.question.textContent} ${answer}`);
    this.slider.value = String(this.at);
    this.slider.setAttribute("aria-valuetext", parts.count.textContent);
    const word = this.going ? "Pause" : "▶ Play";
    if (this.button.textContent !== word) this.button.textContent = word;
  }
}
